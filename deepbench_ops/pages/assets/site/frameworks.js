/* Frameworks next to each other: sections that are filled when they are opened, and a search over all of them. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var find = document.getElementById('find');
    if (!find) { return; }
    var WHERE = ['machine', 'family', 'operation', 'precision'];
    var sections = Array.from(document.querySelectorAll('details[data-key]'));

    function load(section) {
        return d.load('data/contests/' + section.dataset.key);
    }

    function kernels(all, section) {
        var own = section.dataset;
        return all.filter(function (row) {
            return row.section[0] === own.family && row.section[1] === own.operation && row.section[2] === own.precision;
        });
    }

    /* The kernels of a section that match the search: by machine, family, pass, precision, problem, set, application and
       the releases that measured them. */
    function matching(rows, section) {
        var own = WHERE.map(function (key) { return section.dataset[key]; }), found = d.searched(find.value);
        return rows.filter(function (row) {
            var releases = row.times.map(function (one) { return one[1] + ' ' + one[2]; });
            return found([row.name, row.application].concat(row.sets, row.sets.map(d.words), own, own.map(d.words), releases).join(' '));
        });
    }

    function fill(section) {
        return load(section).then(function (all) {
            var place = section.querySelector('div') || section.appendChild(el('div'));
            show(place, section.dataset, matching(kernels(all, section), section));
        });
    }

    /* A time of a row: [framework, release, version, day, seconds, low, high], or the reason why there is no interval
       instead of the last two. */
    function time(row, framework) {
        return row.times.find(function (one) { return one[0] === framework; });
    }

    function versions(rows, framework) {
        var known = new Map(rows.map(function (row) { return time(row, framework); }).filter(Boolean)
            .map(function (one) { return [one[2], one[3]]; }));
        return Array.from(known).sort(function (a, b) { return a[1].localeCompare(b[1]); })
            .map(function (pair) { return pair[0]; }).join(', ');
    }

    function time_column(rows, framework) {
        var of = versions(rows, framework);
        return {
            title: framework + ' ' + of, head: el('span', {}, framework, el('br'), el('small', {}, of)),
            unit: 'seconds', number: true,
            value: function (row) { return (time(row, framework) || [])[4]; },
            text: d.seconds,
            cell: function (row) { return time_cell(row, time(row, framework)); }
        };
    }

    function time_cell(row, one) {
        if (!one) { return ''; }
        var text = d.seconds(one[4]);
        return el('span', {}, row.fastest === one[0] ? el('strong', {}, text) : text,
            one[5] ? [el('br'), el('small', {}, one.length > 6 ? d.interval(one[5], one[6]) : one[5])] : []);
    }

    function show(place, own, rows) {
        var frameworks = d.distinct(rows.flatMap(function (row) {
            return row.times.map(function (one) { return one[0]; });
        })).sort();
        d.table(place, {
            name: ['frameworks', own.machine, own.family, own.operation, own.precision].join('-'),
            title: [d.words(own.family), d.words(own.operation), own.precision, 'on', own.machine].join(' '),
            rows: rows,
            taken: WHERE.map(function (key) { return d.same(key === 'operation' ? 'pass' : key, d.words(own[key])); }),
            detail: function (row) {
                return el('div', {}, row.times.map(function (one) { return d.command_block(d.command(row.kernel, {name: one[1]})); }));
            },
            columns: [
                {title: 'problem', value: function (row) { return row.name; }},
                {title: 'set', value: function (row) { return row.sets.map(d.words).join(', '); }}
            ].concat(frameworks.map(function (name) { return time_column(rows, name); }), [
                {title: 'second / first', head: 'lead over the second', unit: 'ratio', number: true, value: function (row) { return row.ahead; },
                    text: function (ratio) { return d.times(1 / ratio); }},
                {title: 'fastest', value: function (row) { return row.fastest || 'none'; }},
                {title: 'ratio from', value: function (row) { return row.shared ? row.shared + ' shared rounds' : 'times taken apart'; }}
            ])
        });
    }

    /* Put the search and the open sections into the address: for each key of a section a list. */
    function remember(typing) {
        var open = sections.filter(function (section) { return section.open && !section.hidden; });
        var wanted = {find: find.value.trim()};
        WHERE.forEach(function (key) { wanted[key] = open.map(function (section) { return section.dataset[key]; }); });
        d.remember(wanted, typing);
    }

    /* Show only the sections with matching kernels, and their numbers. */
    function search() {
        return d.answer(Promise.all(sections.map(function (section) {
            return load(section).then(function (all) {
                var own = kernels(all, section);
                return [own.length, matching(own, section).length];
            });
        })), function (counts) {
            var total = 0;
            sections.forEach(function (section, i) {
                total += counts[i][1];
                section.hidden = !counts[i][1];
                section.querySelector('summary span').textContent =
                    (counts[i][1] < counts[i][0] ? counts[i][1] + ' of ' : '') + d.counted(counts[i][0], 'kernel');
                if (section.open) { fill(section); }
            });
            document.getElementById('found').replaceChildren.apply(document.getElementById('found'), find.value.trim() ? result(total) : []);
        });
    }

    function result(total) {
        return [d.counted(total, 'kernel') + ' found'].concat(total ? '.' : [' among those that two frameworks or more have measured. The ',
            el('a', {href: 'timeline.html'}, 'timeline'), ' has all kernels.',
            /(^|\s)\S(\s|$)/.test(find.value) ? ' A single letter only matches a whole word.' : '']);
    }

    sections.forEach(function (section) {
        section.addEventListener('toggle', function () {
            if (section.open) { fill(section); }
            remember();
        });
    });
    find.form.addEventListener('submit', function (event) { event.preventDefault(); });
    find.addEventListener('input', function () {
        search().then(function () { remember(true); });
    });

    /* Open the sections that the address names, and search for its words. */
    d.follow(function () {
        var asked = d.asked(), named = asked.getAll('machine').map(function (machine, place) {
            return sections.find(function (section) {
                return WHERE.every(function (key) { return section.dataset[key] === asked.getAll(key)[place]; });
            });
        });
        sections.forEach(function (section) { section.open = named.includes(section); });
        var changed = find.value !== (asked.get('find') || '');
        find.value = asked.get('find') || '';
        return Promise.resolve(changed && search()).then(function () {
            if (named.includes(undefined)) { document.getElementById('found').textContent = 'The address names a section that these pages do not have.'; }
            if (named[0]) { named[0].scrollIntoView(); }
        });
    });
})();
