/* One kernel over the releases: lines of machines and frameworks, with intervals as bands, and changes. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
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

    /* A problem's id, its title and its application, which users look for. */
    function described(lines, id) {
        var problem = lines.find(function (line) { return line.problem.id === id; }).problem;
        return [id, problem.title, problem.application].filter(Boolean).join(': ');
    }

    function ticked(fieldset) {
        return Array.from(fieldset.querySelectorAll('input:checked')).map(function (box) { return box.value; });
    }

    var UP = {
        seconds: {title: 'time', of: function (line, seconds) { return seconds; }, label: d.seconds},
        rate: {title: 'rate', of: function (line, seconds) { return seconds && (line.flops || line.bytes) / seconds; },
            label: function (value, line) { return d.scaled(value, line.flops ? 'FLOP/s' : 'B/s'); }},
        relative: {title: 'time relative to the first release', of: function (line, seconds) { return seconds && seconds / line.seconds[0]; },
            label: function (value) { return d.digits(value, 3) + ' times'; }}
    };

    /* Beginning and end of each run of points with intervals; the band is interrupted between runs. */
    function known(line) {
        var runs = [];
        (line.low || []).forEach(function (low, i) {
            var last = runs[runs.length - 1];
            if (low && last && last[1] === i) {
                last[1] = i + 1;
            } else if (low) {
                runs.push([i, i + 1]);
            }
        });
        return runs;
    }

    function label(line) {
        return line.machine.name + ', ' + line.framework + (d.conditions(line) ? ' (' + d.conditions(line) + ')' : '');
    }

    function traces(line, place, settings, catalogue) {
        var looks = d.looks(place), up = UP[settings.y];
        var name = label(line);
        var x = line.releases.map(function (release) { return settings.x === 'date' ? release.date : d.plain(release.name); });
        function read(list) { return list.map(function (seconds) { return up.of(line, seconds); }); }
        var own = {legendgroup: String(place), x: x, type: 'scatter'};
        var found = [];
        known(line).forEach(function (run) {
            var edges = [line.low, line.high].map(function (list) { return read(list.slice(run[0], run[1])); });
            var shared = Object.assign({}, own, {mode: 'lines', hoverinfo: 'skip', showlegend: false});
            if (edges[0].length === 1) {
                found.push(Object.assign({}, shared, {x: [x[run[0]], x[run[0]]], y: [edges[0][0], edges[1][0]],
                    line: {width: 8, color: d.faded(looks.colour, 0.2)}}));
                return;
            }
            edges.forEach(function (edge, second) {
                found.push(Object.assign({}, shared, {x: x.slice(run[0], run[1]), y: edge,
                    line: {width: 1, color: d.faded(looks.colour, 0.6)}, fill: second ? 'tonexty' : 'none',
                    fillcolor: d.faded(looks.colour, 0.2)}));
            });
        });
        found.push(Object.assign({}, own, {
            y: read(line.seconds), mode: 'lines+markers', name: d.plain(name),
            text: line.seconds.map(function (seconds, i) {
                return d.plain(name) + '<br>' + d.plain(line.releases[i].name) + ', ' + line.releases[i].date + '<br>' + d.seconds(seconds) +
                    (d.interval_text(line, i) ? ' (' + d.interval_text(line, i) + ')' : '') + '<br>' + d.rate_text(line, i) +
                    (line.roof ? ', ' + d.percent(d.of_roof(line, i)) + ' of the roof' : '');
            }),
            hovertemplate: '%{text}<extra></extra>',
            line: {color: looks.colour, dash: looks.dash, width: 2},
            marker: {color: looks.colour, size: 8, symbol: line.seconds.map(function (seconds, i) {
                return looks.symbol + (line.unsteady && line.unsteady[i] ? '-open' : '');
            })}
        }));
        (line.changes || []).forEach(function (change) {
            var i = line.at.indexOf(change[0]), slower = change[1] > 1;
            found.push(Object.assign({}, own, {x: [x[i]], y: [up.of(line, line.seconds[i])], mode: 'markers', showlegend: false,
                marker: {symbol: slower ? 'triangle-up' : 'triangle-down', size: 17, color: d.colour('page'),
                    line: {width: 3, color: d.colour(slower ? 'slower' : 'faster')}},
                hovertemplate: d.change(change[1], change[2], change[3]) + ' since ' +
                    d.plain(catalogue.releases[change[0]].name) + '<extra></extra>'}));
        });
        return found;
    }

    function values_of(lines, settings) {
        return lines.flatMap(function (line) {
            return line.seconds.map(function (seconds) { return UP[settings.y].of(line, seconds); });
        });
    }

    function draw(catalogue, lines, settings, missing) {
        at('chart').hidden = !lines.length;
        if (!lines.length) {
            at('summary').textContent = missing;
            at('table').replaceChildren();
            return;
        }
        var first = lines[0];
        at('summary').textContent = d.words(first.family) + ' ' + d.problem_name(first) + ', ' + d.words(first.set) + ', ' +
            d.words(first.operation) + ', ' + first.precision + (first.problem.title ? ': ' + first.problem.title : '') + (first.problem.application ? ': ' + first.problem.application : '') +
            (first.problem.note ? '. ' + first.problem.note : '') + (missing ? '. ' + missing : '');
        var name = ['timeline', first.family, first.set, first.operation, first.precision, d.problem_name(first)].join('-');
        var unusual = lines.some(d.conditions);
        var values = values_of(lines, settings);
        var wide = Math.max.apply(null, values) > WIDE * Math.min.apply(null, values);
        var log = settings.scale ? settings.scale === 'log' : wide;
        var up = UP[settings.y];
        var releases = d.distinct(lines.flatMap(function (line) { return line.at; })).sort(function (a, b) { return a - b; });
        d.chart(at('chart'), {
            name: name,
            title: [d.words(first.family), d.problem_name(first), d.words(first.set), d.words(first.operation), first.precision].join(', '),
            sides: lines.map(label).join('; '),
            described: 'Timeline of ' + d.problem_name(first) + ', as in the table below',
            build: function () {
                return {
                    traces: lines.flatMap(function (line, place) { return traces(line, place, settings, catalogue); }),
                    layout: {
                        xaxis: settings.x === 'date' ? {type: 'date'} : {type: 'category', categoryorder: 'array',
                            categoryarray: releases.map(function (p) { return d.plain(catalogue.releases[p].name); })},
                        yaxis: {type: log ? 'log' : 'linear', title: up.title, including: log ? [] : [0],
                            label: function (value) { return up.label(value, first); }}
                    }
                };
            }
        });
        var rows = lines.flatMap(function (line) {
            return line.seconds.map(function (seconds, i) { return {line: line, i: i}; });
        });
        d.table(at('table'), {
            name: name,
            title: 'Times of ' + d.problem_name(first),
            rows: rows,
            taken: d.of_lines(function (row) { return row.line; }, ['machine'].concat(unusual ? ['device', 'conditions'] : [])),
            detail: function (row) { return d.detail(row.line, row.i); },
            columns: [
                {title: 'machine', value: function (row) { return row.line.machine.name; }},
                {title: 'release', value: function (row) { return row.line.releases[row.i].name; }},
                {title: 'released', value: function (row) { return row.line.releases[row.i].date; }},
                {title: 'time', unit: 'seconds', number: true, value: function (row) { return row.line.seconds[row.i]; }, text: d.seconds}
            ].concat(d.interval_columns(function (row) { return {line: row.line, place: row.i}; }), [
                {title: 'rate', unit: d.unit_of_rate(lines), number: true, value: function (row) { return d.rate(row.line, row.i); },
                    text: function (value, row) { return d.rate_text(row.line, row.i); }},
                {title: 'of the roof', head: 'share of roof', unit: 'share', number: true, value: function (row) { return d.of_roof(row.line, row.i); },
                    text: function (value) { return d.percent(value); }},
                {title: 'vs previous release', unit: 'ratio', number: true, value: function (row) {
                    return row.i ? row.line.seconds[row.i] / row.line.seconds[row.i - 1] : null;
                }, text: d.times},
                {title: 'verdict', value: verdict}
            ], unusual ? [{title: 'conditions', value: function (row) { return d.conditions(row.line) || 'usual'; }}] : [])
        });
    }

    function verdict(row) {
        var change = (row.line.changes || []).find(function (each) { return each[0] === row.line.at[row.i]; });
        if (change) {
            return d.change(change[1], change[2], change[3]);
        }
        return row.line.judged || row.line.releases[row.i].published ? '' : 'too few processes to judge';
    }

    d.page(function (catalogue) {
        var wanted = d.asked();
        var machines = catalogue.machines.filter(function (machine) { return Object.keys(machine.families).length; });
        if (!machines.length) { return d.instead('No machine has results yet. Measure some with "asv run", then run "asv publish" again.'); }
        var first = d.first_machine(catalogue);
        var families = catalogue.families.filter(function (family) {
            return machines.some(function (machine) { return machine.families[family]; });
        });
        d.offer(at('family'), families, Object.keys(first.families)[0], wanted.get('family'));
        ['x', 'y', 'scale'].forEach(function (id) {
            d.choose(at(id), wanted.get(id));
            at(id).onchange = function () { chosen(new URLSearchParams()); };
        });
        at('family').onchange = function () { family_chosen(ticked(at('machines')), new URLSearchParams()); };
        return family_chosen(wanted.getAll('machine'), wanted);

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
                Object.fromEntries(there.filter(function (name) { return !known.includes(name); })
                    .map(function (name) { return [name, '(no results of this family)']; })));
            return chosen(wanted);
        }

        /* Load the lines of the ticked machines, or of all where no ticked one has lines, and offer the choices among
           them. */
        function chosen(wanted) {
            var names = ticked(at('machines')), own = having().filter(function (machine) { return names.includes(machine.name); });
            return d.answer(Promise.all((own.length ? own : having()).map(function (machine) {
                return d.lines(catalogue, machine, at('family').value);
            })), function (found) { narrowed(found.flat(), names, wanted); });
        }

        function narrowed(lines, names, wanted) {
            var left = lines;
            AXES.forEach(function (axis) {
                var values = d.distinct(left.map(READ[axis]));
                if (axis === 'ranks') { values.sort(function (a, b) { return a - b; }); }
                var asked = left.filter(function (line) { return line.problem.id === wanted.get('problem'); }).map(READ[axis]);
                d.offer(at(axis), values.map(function (value) { return [value, axis === 'problem' ? described(left, value) : d.words(value)]; }),
                    asked.length && !asked.includes(USUAL[axis]) ? asked[0] : USUAL[axis], wanted.get(axis));
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
            var settings = {x: at('x').value, y: at('y').value, scale: at('scale').value};
            d.remember(Object.assign({family: at('family').value, set: at('set').value, operation: at('operation').value,
                precision: at('precision').value, problem: at('problem').value, ranks: at('ranks').value, machine: names_in_address(names),
                framework: shown.length < frameworks.length ? names_in_address(shown) : []},
                settings.x === 'date' ? {} : {x: settings.x}, settings.y === 'seconds' ? {} : {y: settings.y},
                settings.scale ? {scale: settings.scale} : {}));
            var missing = !names.length ? 'No machine is ticked.' : !shown.length ? 'No framework is ticked.'
                : left_out(left, names, shown, names.filter(function (name) { return !names_of(having()).includes(name); }),
                    d.words(at('family').value)).replace(/^./, function (letter) { return letter.toUpperCase(); });
            draw(catalogue, left.filter(function (line) {
                return names.includes(line.machine.name) && shown.includes(line.framework);
            }), settings, missing);
        }
    });
})();
