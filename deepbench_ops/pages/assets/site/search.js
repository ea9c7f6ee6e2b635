/* The search box of every page: machines, releases and problems by any of their words and sizes. */
'use strict';

(function () {
    var d = deepbench, el = d.el, MOST = 12;
    var box = document.getElementById('search'), list = document.getElementById('hits'), rows = null, chosen = -1;

    /* All rows as {kind, name, more, text, letters, words, href}; `text` is searched, `letters` is the same without blanks and signs. */
    function read(data) {
        function row(kind, name, more, href, text) {
            var all = [kind, name, more, text || ''].join(' ').toLowerCase();
            return {kind: kind, name: name, more: more, href: href, text: all, letters: all.replace(/[^\p{L}\p{N}]/gu, ''),
                words: new Set(all.split(/[^\p{L}\p{N}]+/u))};
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

    /* The best rows for a query: all words are in the text; a name or a kind that begins with the first word comes first. */
    function found(query) {
        var wanted = words(query);
        if (!wanted.length) { return []; }
        return rows.filter(function (row) { return wanted.every(function (word) { return has(row, word); }); })
            .map(function (row, place) {
                var name = row.name.toLowerCase();
                return [name.startsWith(wanted[0]) || row.kind.startsWith(wanted[0]) ? 0 : name.includes(wanted[0]) ? 1 : 2, place, row];
            }).sort(function (a, b) { return a[0] - b[0] || a[1] - b[1]; }).map(function (each) { return each[2]; });
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

    function show() {
        var query = box.value.trim();
        if (!query || !rows) { return close(); }
        var all = found(query);
        if (query.length === 1 && !all.length) { return close(); }
        var shown = all.slice(0, MOST);
        list.replaceChildren.apply(list, shown.map(function (row, place) {
            return el('li', {role: 'option', id: 'hit-' + place, 'aria-selected': 'false', 'data-href': row.href,
                mousedown: function (event) { event.preventDefault(); }, click: function () { location.href = row.href; }},
            el('small', {}, row.kind), ' ', row.name, row.more ? [' ', el('small', {}, row.more)] : []);
        }).concat(all.length > MOST || !all.length ? [el('li', {role: 'presentation', class: 'rest'}, el('small', {},
            all.length ? (all.length - MOST) + ' more: add a word' : 'Nothing is called so. Try a machine, a release, a size such as 1760x128, an application or a model.'))] : []));
        list.hidden = false;
        box.setAttribute('aria-expanded', 'true');
        choose(0);
    }

    function load() {
        return rows ? Promise.resolve() : d.load('data/search').then(function (data) { rows = read(data); }).catch(function () {
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
