/* Frameworks next to each other: the matrix (framework_matrix.js), sections that are filled when they are opened, and a
   search over all of them. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var find = document.getElementById('find');
    if (!find) { return; }
    var WHERE = ['machine', 'family', 'operation', 'precision'];
    var views = new Map();  /* order and filter of the table of each section */
    var sections = Array.from(document.querySelectorAll('details[data-key]'));

    d.adopted.forEach(function (show) { show(); });

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
        var own = WHERE.concat('heading').map(function (key) { return section.dataset[key]; }), found = d.searched(find.value);
        return rows.filter(function (row) {
            var releases = row.times.map(function (one) { return one[1] + ' ' + one[2]; });
            return found([row.name, row.title || '', row.application].concat(row.sets, row.sets.map(d.words), own, own.map(d.words), releases).join(' '));
        });
    }

    function fill(section) {
        var place = section.querySelector('div') || section.appendChild(el('div'));
        return load(section).then(function (all) {
            show(place, section.dataset, matching(kernels(all, section), section), {view: views.get(section), viewed: function (next, typing) {
                views.set(section, next);
                remember(typing);
            }});
        }).catch(function (reason) { place.replaceChildren(el('p', {class: 'torn', role: 'alert'}, 'These kernels cannot be shown: ' + reason.message)); });
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

    function show(place, own, rows, view) {
        var frameworks = d.distinct(rows.flatMap(function (row) {
            return row.times.map(function (one) { return one[0]; });
        })).sort();
        d.table(place, Object.assign(view, {
            cards: true,
            name: ['frameworks', own.machine, own.family, own.operation, own.precision].join('-'),
            title: [own.heading, d.words(own.operation), own.precision, 'on', own.machine].join(' '),
            rows: rows,
            taken: [{title: 'readable name', value: function (row) { return row.title; }}]
                .concat(WHERE.map(function (key) { return d.same(key === 'operation' ? 'pass' : key, d.words(own[key])); })),
            detail: function (row) {
                return el('div', {}, row.times.map(function (one) { return d.command_block(d.command(row.kernel, {name: one[1]})); }));
            },
            columns: [
                {title: 'problem', long: true, value: function (row) { return row.name; }, cell: function (row) {
                    return row.title ? el('span', {}, row.title, el('br'), el('small', {}, row.name)) : row.name;
                }},
                {title: 'set', value: function (row) { return row.sets.map(d.words).join(', '); }}
            ].concat(frameworks.map(function (name) { return time_column(rows, name); }), [
                d.intensity_column(function (row) { return row.intensity; }),
                {title: 'second / first', head: 'lead over the second', unit: 'ratio', number: true, value: function (row) { return row.ahead; },
                    text: function (ratio) { return d.factor(1 / ratio); }},
                {title: 'fastest', value: function (row) { return row.fastest || 'none'; }},
                {title: 'ratio from', value: function (row) { return row.shared ? row.shared + ' shared rounds' : 'times taken apart'; }}
            ])
        }));
    }

    /* The view of the matrix: machine, precision, and the family and framework of the cell whose kernels are shown. */
    var shown = {where: '', at: '', cell: ''};

    /* Put the matrix, the search and the open sections into the address: for each key of a section a list. */
    function remember(typing) {
        var open = sections.filter(function (section) { return section.open && !section.hidden; });
        var wanted = Object.assign({find: find.value.trim()}, shown);
        WHERE.forEach(function (key) { wanted[key] = open.map(function (section) { return section.dataset[key]; }); });
        ['sort', 'find'].forEach(function (key) {
            var values = open.map(function (section) { return (views.get(section) || {})[key] || ''; });
            wanted['table-' + key] = values.some(Boolean) ? values : '';
        });
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
        return [d.counted(total, 'kernel') + ' found'].concat(total ? ' below.' : [' among those that two frameworks or more have measured. The ',
            el('a', {href: 'timeline.html'}, 'timeline'), ' has all kernels.',
            /(^|\s)\S(\s|$)/.test(find.value) ? ' A single letter only matches a whole word.' : '']);
    }

    /* Draw the matrix, and the kernels of the chosen cell. */
    function draw() {
        return Promise.all([d.load('data/catalogue'), d.load('data/frameworks')]).then(function (found) {
            var view = d.framework_matrix(document.getElementById('matrix'), found[0], found[1], shown, chosen);
            var place = document.getElementById('cell');
            place.hidden = !view.row;
            if (!view.row) { return null; }
            return d.load('data/contests/' + view.machine.key).then(function (all) {
                d.cell_kernels(place, found[0], view.machine, view.row, view.framework, all);
            });
        }).catch(function (reason) {
            document.getElementById('matrix').replaceChildren(el('p', {class: 'torn', role: 'alert'}, 'The matrix cannot be shown: ' + reason.message));
            console.error(reason);
        });
    }

    /* The user has chosen something: the focus stays on it, or goes to the kernels of a chosen cell. */
    function chosen(values) {
        var before = document.activeElement.id;
        Object.assign(shown, values);
        remember();
        return draw().then(function () {
            var place = document.getElementById(before), heading = document.getElementById('picked');
            if (place) { place.focus({preventScroll: true}); }
            if (values.cell && heading) { heading.scrollIntoView({block: 'nearest'}); }
        });
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

    /* Report names in the address that the page does not have. Choices that a link carried are left out instead. */
    function report(asked, named) {
        var missing = named.includes(undefined) ? ['The address names a section that these pages do not have.'] : [];
        [['where', 'machine', ', on which no two frameworks were measured'], ['at', 'precision', ', at which no two frameworks are compared on this machine']].forEach(function (each) {
            var wanted = shown[each[0]];
            if (!wanted || wanted === document.getElementById(each[0]).value) { return; }
            if (asked.has('carried')) { shown[each[0]] = ''; } else { missing.push('The address names the ' + each[1] + ' \u201c' + wanted + '\u201d' + each[2] + '. Another one is shown.'); }
        });
        if (shown.cell && document.getElementById('cell').hidden) { missing.push('The address names the cell \u201c' + shown.cell + '\u201d, which this matrix does not have.'); }
        if (missing.length) { document.getElementById('found').textContent = missing.join(' '); }
    }

    /* Open the sections that the address names, and search for its words. */
    d.follow(function () {
        var asked = d.asked(), named = asked.getAll('machine').map(function (machine, place) {
            return sections.find(function (section) {
                return WHERE.every(function (key) { return section.dataset[key] === asked.getAll(key)[place]; });
            });
        });
        sections.forEach(function (section) {
            var place = named.indexOf(section), before = JSON.stringify(views.get(section) || {});
            views.set(section, {sort: asked.getAll('table-sort')[place] || '', find: asked.getAll('table-find')[place] || ''});
            if (section.open && place >= 0 && before !== JSON.stringify(views.get(section))) { fill(section); }
            section.open = place >= 0;
        });
        Object.keys(shown).forEach(function (key) { shown[key] = asked.get(key) || ''; });
        var changed = find.value !== (asked.get('find') || '');
        find.value = asked.get('find') || '';
        return Promise.all([draw(), changed && search()]).then(function () {
            document.body.dataset.usable = document.body.dataset.ready = Math.round(performance.now());
            report(asked, named);
            if (named[0]) { named[0].scrollIntoView(); }
        });
    });
})();
