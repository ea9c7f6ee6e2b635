/* The search box of every page: machines, releases and problems by any of their words and sizes, and below them those by similar words. */
'use strict';

(function () {
    var d = deepbench, el = d.el, MOST = 12;
    var SHORTEST = 4, LONG = 8;  /* letters of a word from which on one wrong letter is allowed, and two */
    var box = document.getElementById('search'), list = document.getElementById('hits'), rows = null, chosen = -1, vocabulary = [], examples = '';

    function split(text) { return text.split(/[^\p{L}\p{N}]+/u); }

    /* All rows as {kind, name, more, text, letters, words, href}; `text` is searched, `letters` is the same without blanks and signs. */
    function read(data) {
        function row(kind, name, more, href, text) {
            var all = [kind, name, more, text || ''].join(' ').toLowerCase();
            return {kind: kind, name: name, more: more, href: href, text: all, letters: all.replace(/[^\p{L}\p{N}]/gu, ''),
                words: new Set(split(all))};
        }
        function without(kind, title) { return title.startsWith(kind + ' ') ? title.slice(kind.length + 1) : title; }
        return [].concat(
            data.machines.map(function (each) { return row('machine', each[0], each[1], 'machine.html' + d.address({machine: each[0]})); }),
            data.releases.map(function (each) { return row('release', each[0], each[1], 'release.html' + d.address({release: each[0]})); }),
            data.problems.map(function (each) {
                var family = each[0], heading = each[1], id = each[2], title = each[3], application = each[4], at = each[5];
                var href = at ? 'timeline.html' + d.address(at) : 'operations.html' + d.address({family: family, find: id});
                return row(heading, without(heading, title), application + (at ? '' : ', not measured yet'), href, [d.words(family), id].join(' '));
            }));
    }

    /* The words of a query; sizes joined by x, such as 1760x128, are words of their own. */
    function words(query) {
        return query.toLowerCase().replace(/(\d)\s*[x\u00d7]\s*(?=\d)/g, '$1 ').split(/\s+/).filter(Boolean);
    }

    /* Whether a row has a word; one with signs, such as ResNet-50, is also found without them. A single letter is a whole word, as in
       filters: that in "1760 x 128" means no machine. */
    function has(row, word) {
        if (word.length === 1) { return row.words.has(word); }
        var letters = word.replace(/[^\p{L}\p{N}]/gu, '');
        return row.text.includes(word) || letters !== word && /\p{L}/u.test(letters) && row.letters.includes(letters);
    }

    function without_letters(word) { return word.replace(/\p{L}/gu, ''); }

    /* The fewest edits, `most` at most, that turn a word into the beginning of another one; else Infinity. An edit inserts, leaves out or
       replaces a letter, or swaps two neighbours (Damerau 1964). */
    function edits(word, other, most) {
        var before = [], last = Array.from({length: Math.min(other.length, word.length + most) + 1}, function (_, at) { return at; });
        for (var i = 1; i <= word.length; i += 1) {
            var row = [i];
            for (var j = 1; j < last.length; j += 1) {
                row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (word[i - 1] !== other[j - 1]));
                if (i > 1 && j > 1 && word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1]) { row[j] = Math.min(row[j], before[j - 2] + 1); }
            }
            if (Math.min.apply(null, row) > most) { return Infinity; }
            before = last;
            last = row;
        }
        return Math.min.apply(null, last);
    }

    /* The words of all rows that are similar to a word, each with its edits: digits are the same, since sizes and versions are different things. */
    function similar(word) {
        var count = word.length - without_letters(word).length, most = count >= LONG ? 2 : count >= SHORTEST ? 1 : 0, digits = without_letters(word);
        return most ? vocabulary.map(function (other) { return [other, without_letters(other) === digits ? edits(word, other, most) : Infinity]; })
            .filter(function (pair) { return pair[1] <= most; }) : [];
    }

    /* The word of a row that a word of the query means, with its edits, as [word, edits]; `near` are the similar words. */
    function meant(row, word, near) {
        if (has(row, word)) { return [word, 0]; }
        return near.filter(function (pair) { return row.words.has(pair[0]); }).sort(function (a, b) { return a[1] - b[1]; })[0] || [word, Infinity];
    }

    /* The rows that have all words, as {row, edits}: those with the fewest edits first, then those whose name or kind begins with the first word. */
    function ranked(some, wanted, near) {
        return some.map(function (row, place) {
            var found = wanted.map(function (word, at) { return meant(row, word, near[at]); }), first = found[0][0], name = row.name.toLowerCase();
            var edits = found.reduce(function (sum, pair) { return sum + pair[1]; }, 0);
            return {row: row, edits: edits, place: place, worth: name.startsWith(first) || row.kind.startsWith(first) ? 0 : name.includes(first) ? 1 : 2};
        }).filter(function (hit) { return hit.edits < Infinity; })
            .sort(function (a, b) { return a.edits - b.edits || a.worth - b.worth || a.place - b.place; });
    }

    /* The best rows for a query. Where few have its words, rows with similar ones follow. */
    function found(query) {
        var wanted = words(query), parts = wanted.flatMap(split).filter(Boolean);
        if (!wanted.length) { return []; }
        var exact = ranked(rows, wanted, wanted.map(function () { return []; }));
        if (exact.length >= MOST || !parts.length) { return exact; }
        var known = new Set(exact.map(function (hit) { return hit.row; }));
        return exact.concat(ranked(rows.filter(function (row) { return !known.has(row); }), parts, parts.map(similar)));
    }

    function close() {
        list.hidden = true;
        chosen = -1;
        box.setAttribute('aria-expanded', 'false');
        box.removeAttribute('aria-activedescendant');
    }

    function choose(place) {
        var options = list.querySelectorAll('[role=option]');
        chosen = options.length ? (place + options.length) % options.length : -1;
        options.forEach(function (option, i) { option.setAttribute('aria-selected', String(i === chosen)); });
        if (chosen >= 0) {
            box.setAttribute('aria-activedescendant', options[chosen].id);
            options[chosen].scrollIntoView({block: 'nearest'});
        }
    }

    function option(row, place) {
        return el('li', {role: 'option', id: 'hit-' + place, 'aria-selected': 'false', 'data-href': row.href,
            mousedown: function (event) { event.preventDefault(); }, click: function () { location.href = row.href; }},
        el('small', {}, row.kind), ' ', row.name, row.more ? [' ', el('small', {}, row.more)] : []);
    }

    function note(text) { return el('li', {role: 'presentation', class: 'rest'}, el('small', {}, text)); }

    function show() {
        var query = box.value.trim();
        if (!query || !rows) { return close(); }
        var all = found(query);
        if (query.length === 1 && !all.length) { return close(); }
        var shown = all.slice(0, MOST), exact = all.filter(function (hit) { return !hit.edits; }).length;
        var items = shown.map(function (hit, place) { return option(hit.row, place); });
        if (exact < shown.length) { items.splice(exact, 0, note(exact ? 'Similar:' : 'Nothing is called \u201c' + query + '\u201d. Similar:')); }
        if (all.length > MOST) { items.push(note((all.length - MOST) + ' more: add a word')); }
        if (!items.length) { items.push(note('Nothing is called \u201c' + query + '\u201d. Examples: ' + examples)); }
        list.replaceChildren.apply(list, items);
        if (!exact) { d.announce(list.querySelector('.rest').textContent); }
        list.hidden = false;
        box.setAttribute('aria-expanded', 'true');
        choose(0);
    }

    function load() {
        return rows ? Promise.resolve() : d.load('data/search').then(function (data) {
            rows = read(data);
            vocabulary = d.distinct(rows.flatMap(function (row) { return Array.from(row.words); }));
            examples = [].concat(data.machines.slice(0, 1), data.releases.slice(0, 1), data.problems.slice(0, 1).map(function (each) { return [each[1]]; }))
                .map(function (each) { return each[0]; }).join(', ');
        }).catch(function () {
            box.disabled = true;
            box.placeholder = 'Search needs data/search.js: publish again';
        });
    }

    box.closest('form').addEventListener('submit', function (event) {
        event.preventDefault();
        var option = list.querySelectorAll('[role=option]')[Math.max(chosen, 0)];
        if (!list.hidden && option) { location.href = option.dataset.href; }
    });
    box.addEventListener('focus', load);
    box.addEventListener('input', function () { load().then(show); });
    box.addEventListener('blur', close);
    box.addEventListener('keydown', function (event) {
        if (event.key === 'Escape') { close(); }
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            if (list.hidden) { show(); } else { choose(chosen + (event.key === 'ArrowDown' ? 1 : -1)); }
        }
    });
})();
