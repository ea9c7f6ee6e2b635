/* One kernel over the releases: lines of machines and frameworks that the user chooses, and a table of
   their times. timeline_lines.js has the content of the chart. */
'use strict';

(function () {
    var d = deepbench, el = d.el, own = d.timeline;
    var at = function (id) { return document.getElementById(id); };
    var AXES = ['set', 'operation', 'precision', 'problem', 'ranks'];
    var READ = {
        set: function (line) { return line.set; },
        operation: function (line) { return line.operation; },
        precision: function (line) { return line.precision; },
        problem: function (line) { return line.problem.id; },
        ranks: function (line) { return line.ranks ? String(line.ranks) : ''; }
    };
    var WIDE = 5;  /* ratio of the values from which on the scale is logarithmic */
    /* Chosen first, where there are such lines. */
    var USUAL = {set: 'training', operation: 'forward', precision: 'float32'};

    /* Fill a fieldset with a box for each value. `chosen` are ticked; `notes` are texts behind some values. Boxes that are
       there already stay, so that they keep the focus. */
    function boxes(fieldset, values, chosen, changed, notes) {
        var there = new Map(Array.from(fieldset.querySelectorAll('input'), function (box) { return [box.value, box.parentNode]; }));
        there.forEach(function (label, value) {
            if (!values.includes(value)) { label.remove(); }
        });
        values.forEach(function (value, place) {
            var label = there.get(value) || el('label', {}, el('input', {type: 'checkbox', value: value}), ' ' + value, el('small'));
            label.lastChild.textContent = notes && notes[value] ? ' ' + notes[value] : '';
            label.firstChild.checked = chosen.includes(value);
            if (fieldset.children[place + 1] !== label) { fieldset.insertBefore(label, fieldset.children[place + 1] || null); }
        });
        fieldset.onchange = changed;
    }

    /* The names that exist; others in the address are reported. */
    function present(what, names, known, wanted) {
        return names.filter(function (name) {
            if (name && !known.includes(name) && wanted.has(what)) { d.not_here(what, name); }
            return known.includes(name);
        });
    }

    /* The ticked names as the address holds them: an empty name where nothing is ticked. */
    function names_in_address(names) {
        return names.length ? names : [''];
    }

    /* Which ticked machines are not drawn, and why, in words; machines in `without` have no results of the family. */
    function left_out(lines, names, shown, without, family) {
        function of(name, some) {
            return some.some(function (line) { return line.machine.name === name; });
        }
        var drawn = lines.filter(function (line) { return shown.includes(line.framework); });
        return [
            ['no results of ' + family + ' on ', names.filter(function (name) { return without.includes(name); })],
            ['not measured on ', names.filter(function (name) { return !of(name, lines) && !without.includes(name); })],
            ['measured with other frameworks on ', names.filter(function (name) { return of(name, lines) && !of(name, drawn); })]
        ].filter(function (pair) { return pair[1].length; })
            .map(function (pair) { return pair[0] + pair[1].join(', '); }).join('; ');
    }

    /* A problem's readable name, its application, which users look for, and its id. */
    function described(lines, id) {
        var problem = lines.find(function (line) { return line.problem.id === id; }).problem;
        return [problem.title || id, problem.application].filter(Boolean).join(', ') + (problem.title ? ' (' + id + ')' : '');
    }

    /* Whether a framework was measured with several releases. */
    function has_history(machine) { return machine.measured && machine.releases.length > machine.frameworks.length; }

    /* The line with the most releases. */
    function longest(lines) {
        return lines.reduce(function (best, line) { return d.count_of_times(line) > d.count_of_times(best) ? line : best; });
    }

    function ticked(fieldset) {
        return Array.from(fieldset.querySelectorAll('input:checked')).map(function (box) { return box.value; });
    }

    /* The text on the chip of a fieldset: the names that are ticked, or how many. */
    function chip(fieldset, noun) {
        var names = ticked(fieldset), all = fieldset.querySelectorAll('input').length;
        fieldset.parentNode.querySelector('summary').textContent = names.length === 1 ? names[0]
            : names.length === all ? 'all ' + d.counted(all, noun) : (names.length || 'no') + ' ' + noun + (names.length === 1 ? '' : 's');
    }

    /* The kernel in words: its readable name, id, axes, and where it is from. */
    function described_kernel(line) {
        return [el('strong', {}, line.title), ' ',
            el('small', {}, [line.problem.title ? d.problem_name(line) : '', d.words(line.set), d.words(line.operation), line.precision].filter(Boolean).join(', ') +
                (line.problem.application ? '; ' + line.problem.application : '') + (line.problem.note ? '; ' + line.problem.note : ''))];
    }

    function draw(catalogue, lines, settings, missing, view, viewed) {
        at('chart').hidden = at('key').hidden = !lines.length;
        at('summary').replaceChildren.apply(at('summary'), (lines.length ? described_kernel(lines[0]) : []).concat(missing ? [lines.length ? '. ' : '', missing] : []));
        d.append_marks(at('summary'), lines.map(function (line) { return line.machine; }));
        if (!lines.length) {
            at('table').replaceChildren();
            return;
        }
        var first = lines[0], up = own.UP[settings.y], drawn = own.series(lines, settings, catalogue.frameworks);
        var name = ['timeline', first.family, first.set, first.operation, first.precision, d.problem_name(first)].join('-');
        var values = drawn.series.flatMap(function (one) { return one.points.map(function (point) { return point.y; }); });
        var wide = Math.max.apply(null, values) > WIDE * Math.min.apply(null, values);
        var log = settings.scale ? settings.scale === 'log' : wide;
        var releases = d.distinct(lines.flatMap(function (line) { return line.at; })).sort(function (a, b) { return a - b; });
        d.plot(at('chart'), Object.assign(drawn, {
            name: name,
            title: d.distinct([first.title, d.problem_name(first), d.words(first.set), d.words(first.operation), first.precision]).join(', '),
            sides: lines.map(own.label).join('; '),
            described: 'Timeline of ' + d.problem_name(first) + ', as in the table below',
            x: settings.x === 'date' ? {type: 'date'} : {type: 'names', names: releases.map(function (place) { return catalogue.releases[place].name; })},
            y: {type: log ? 'log' : 'linear', title: up.title, including: log ? [] : [0], label: function (value) { return up.label(value, first); }}
        }));
        at('key').replaceChildren.apply(at('key'), own.key(drawn));
        table(lines, name, view, viewed);
    }

    function table(lines, name, view, viewed) {
        var unusual = lines.some(d.conditions), rows = lines.flatMap(function (line) {
            return line.seconds.map(function (seconds, i) { return {line: line, i: i}; });
        });
        d.table(at('table'), {
            name: name,
            title: 'Times of ' + d.problem_name(lines[0]),
            rows: rows,
            cards: true,
            view: view,
            viewed: viewed,
            taken: d.of_lines(function (row) { return row.line; }, ['machine'].concat(unusual ? ['device', 'conditions'] : [])),
            detail: function (row) { return d.detail(row.line, row.i); },
            columns: [
                {title: 'machine', value: function (row) { return row.line.machine.name; }, cell: function (row) {
                    return d.marked_name(row.line.machine.name, row.line.machine);
                }},
                {title: 'release', value: function (row) { return row.line.releases[row.i].name; }},
                {title: 'released', value: function (row) { return row.line.releases[row.i].date; }},
                {title: 'time', unit: 'seconds', number: true, value: function (row) { return row.line.seconds[row.i]; }, text: d.seconds}
            ].concat(d.version_columns(rows, function (row) {
                return [['', d.other_versions(row.line.seconds[row.i], row.line.conflict && row.line.conflict[row.i])]];
            }), d.interval_columns(function (row) { return {line: row.line, place: row.i}; }), [
                {title: 'rate', unit: d.unit_of_rate(lines), number: true, value: function (row) { return d.rate(row.line, row.i); },
                    text: function (value, row) { return d.rate_text(row.line, row.i); }},
                {title: 'of the roof', head: 'share of roof', unit: 'share', number: true, value: function (row) { return d.of_roof(row.line, row.i); },
                    text: function (value) { return d.percent(value); }},
                {title: 'vs previous release', unit: 'ratio', number: true, style: 'factor', value: function (row) {
                    return row.i && d.is_steady(row.line, row.i) && d.is_steady(row.line, row.i - 1) ? row.line.seconds[row.i] / row.line.seconds[row.i - 1] : null;
                }, text: function (ratio) { return d.factor(ratio); }},
                {title: 'verdict', note: 'a lasting change: the levels before and after, or the rounds that both releases share', value: verdict}
            ], unusual ? [{title: 'conditions', value: function (row) { return d.conditions(row.line) || 'usual'; }}] : [])
        });
    }

    function verdict(row) {
        var change = own.change_of(row.line, row.i);
        if (change) { return d.change(change[1], change[2], change[3]); }
        return row.line.judged || row.line.releases[row.i].published ? '' : 'too few processes to judge';
    }

    d.page(function (catalogue) {
        var wanted = d.asked();
        var machines = catalogue.machines.filter(function (machine) { return Object.keys(machine.families).length; });
        if (!machines.length) { return d.instead('No machine has results yet. Measure some with "asv run", then run "asv publish" again.'); }
        var first = d.first_machine(catalogue, has_history);
        var named = machines.find(function (machine) { return machine.name === wanted.get('machine'); }) || first;
        var families = catalogue.families.filter(function (family) {
            return machines.some(function (machine) { return machine.families[family]; });
        });
        d.offer(at('family'), families.map(function (family) { return [family, catalogue.headings[family]]; }), usual_family(), asked_family());
        var view = {sort: wanted.get('sort') || '', find: wanted.get('find') || ''};
        ['x', 'y', 'scale'].forEach(function (id) { d.choose(at(id), wanted.get(id)); });
        ['x', 'y', 'scale', 'since'].forEach(function (id) { at(id).onchange = function () { chosen(new URLSearchParams()); }; });
        at('family').onchange = function () { family_chosen(ticked(at('machines')), new URLSearchParams()); };
        return family_chosen(wanted.getAll('machine'), wanted);

        /* The family with the most lines on the first machine, of those that the machine in the address has results of. */
        function usual_family() {
            return families.filter(function (family) { return named.families[family]; })
                .sort(function (a, b) { return (first.families[b] || 0) - (first.families[a] || 0); })[0];
        }

        /* The family that the address names; one that a link carried only if the machine has results of it. */
        function asked_family() {
            var family = wanted.get('family');
            return wanted.has('carried') && !named.families[family] ? null : family;
        }

        function names_of(some) {
            return some.map(function (machine) { return machine.name; });
        }

        function having() {
            return machines.filter(function (machine) { return machine.families[at('family').value]; });
        }

        /* A ticked machine stays ticked, whether it has results of the family or not. */
        function family_chosen(names, wanted) {
            var known = names_of(having()), kept = present('machine', names, names_of(machines), wanted);
            var none = wanted.get('machine') === '' || !wanted.has('machine') && at('machines').querySelector('input') && !names.length;
            var some = kept.length || none ? kept : [known.includes(first.name) ? first.name : known[0]];
            var there = names_of(machines).filter(function (name) { return known.includes(name) || some.includes(name); });
            boxes(at('machines'), there, some, function () { chosen(new URLSearchParams()); },
                Object.fromEntries(there.map(function (name) {
                    return [name, known.includes(name) ? machines.find(function (machine) { return machine.name === name; }).unsigned : '(no results of this family)'];
                })));
            return chosen(wanted);
        }

        /* Load the lines of the ticked machines, or of all where no ticked one has lines, and offer the choices among
           them. */
        function chosen(wanted) {
            var names = ticked(at('machines')), chosen_ones = having().filter(function (machine) { return names.includes(machine.name); });
            return d.answer(Promise.all((chosen_ones.length ? chosen_ones : having()).map(function (machine) {
                return d.lines_to_choose(catalogue, machine, at('family').value);
            })), function (found) { return narrowed(found.flat(), names, wanted); }).catch(not_shown);
        }

        function not_shown(reason) { draw(catalogue, [], {}, 'The times cannot be shown: ' + reason.message + '.'); }

        /* Years that the lines have releases of; all are shown unless the address names one. */
        function offer_years(lines, wanted) {
            var years = d.distinct(lines.flatMap(function (line) { return line.releases.map(function (release) { return release.date.slice(0, 4); }); })).sort();
            d.offer(at('since'), [['', 'of all years']].concat(years.slice(1).reverse().map(function (year) { return [year, 'since ' + year]; })), '', wanted.get('since'));
            return at('since').value;
        }

        function narrowed(lines, names, wanted) {
            var left = lines;
            AXES.forEach(function (axis) {
                var values = d.distinct(left.map(READ[axis]));
                if (axis === 'ranks') { values.sort(function (a, b) { return a - b; }); }
                var named = wanted.has('problem') ? 'problem' : 'precision';
                var asked = left.filter(function (line) { return READ[named](line) === wanted.get(named); }).map(READ[axis]);
                d.offer(at(axis), values.map(function (value) { return [value, axis === 'problem' ? described(left, value) : d.words(value)]; }),
                    asked.length && !asked.includes(USUAL[axis]) ? asked[0] : USUAL[axis] || READ[axis](longest(left)), wanted.get(axis));
                at(axis).onchange = function () { narrowed(lines, names, new URLSearchParams()); };
                left = left.filter(function (line) { return READ[axis](line) === at(axis).value; });
            });
            at('ranks-label').hidden = !at('ranks').value;
            var frameworks = d.distinct(left.map(function (line) { return line.framework; })).sort();
            var asked = present('framework', wanted.getAll('framework'), frameworks, wanted);
            var unticked = Array.from(at('frameworks').querySelectorAll('input:not(:checked)'))
                .map(function (box) { return box.value; });
            var kept = frameworks.filter(function (name) { return !unticked.includes(name); });
            var none = wanted.get('framework') === '' || unticked.length && !ticked(at('frameworks')).length;
            boxes(at('frameworks'), frameworks, none ? [] : asked.length ? asked : kept.length ? kept : frameworks,
                function () { narrowed(lines, names, new URLSearchParams()); });
            var shown = ticked(at('frameworks'));
            var drawable = left.filter(function (line) { return names.includes(line.machine.name) && shown.includes(line.framework); });
            chip(at('machines'), 'machine');
            chip(at('frameworks'), 'framework');
            var missing = !names.length ? 'No machine is ticked.' : !shown.length ? 'No framework is ticked.'
                : left_out(left, names, shown, names.filter(function (name) { return !names_of(having()).includes(name); }),
                    catalogue.headings[at('family').value]).replace(/^./, function (letter) { return letter.toUpperCase(); });
            return d.answer(d.with_times(catalogue, drawable), function (whole) {
                with_settings(whole, names, shown.length < frameworks.length ? shown : null, missing, wanted);
            }).catch(not_shown);
        }

        /* `frameworks` are those that the address names, null where all are ticked. */
        function with_settings(lines, names, frameworks, missing, wanted) {
            var settings = {x: at('x').value, y: at('y').value, scale: at('scale').value, since: offer_years(lines, wanted)};
            function remember(typing) { d.remember(Object.assign({family: at('family').value, set: at('set').value, operation: at('operation').value,
                precision: at('precision').value, problem: at('problem').value, ranks: at('ranks').value, machine: names_in_address(names),
                framework: frameworks ? names_in_address(frameworks) : []},
                settings.x === 'date' ? {} : {x: settings.x}, settings.y === 'seconds' ? {} : {y: settings.y},
                {scale: settings.scale, since: settings.since}, view), typing); }
            remember();
            draw(catalogue, lines.map(function (line) { return own.since(line, settings.since); }).filter(Boolean), settings, missing, view, function (next, typing) {
                Object.assign(view, next);
                remember(typing);
            });
        }
    });
})();
