/* Machines or releases compared: the sides that the user chooses, pictures of their ratios, tables, problems over releases.
   compare_sides.js has the ratios, compare_pictures.js the pictures. */
'use strict';

(function () {
    var d = deepbench, el = d.el, sides_of = d.sides, name = d.sides.name;
    var at = function (id) { return document.getElementById(id); };
    var MOST = 12;

    function groups(catalogue, sides, rows, view) {
        d.table(at('groups'), Object.assign(view, {
            name: ['compare'].concat(sides.map(name)).join('-'),
            title: 'By family',
            rows: rows,
            cards: true,
            detail: function (row) {
                return d.command_block('deepbench compare ' + sides.concat().filter(function (side) {
                    return side === sides[0] || side === row.other;
                }).map(function (side) { return d.quoted(name(side)); }).join(' ') +
                    (at('device').value ? ' --device ' + at('device').value : ''));
            },
            taken: [{title: '95 % interval: high', unit: 'ratio', number: true, value: function (row) { return row.high; }},
                d.same('first', name(sides[0]))].concat(at('device').value ? [d.same('device', at('device').value)] : []),
            columns: [
                {title: 'family', value: function (row) { return row.family; }, text: function (family) { return catalogue.headings[family]; }},
                {title: 'precision', value: function (row) { return row.precision; }, text: d.words},
                {title: 'other', value: function (row) { return name(row.other); }},
                {title: 'other / first', head: 'other compared with first', style: 'factor', unit: 'ratio', number: true, value: function (row) { return row.ratio; }, text: function (ratio) { return d.factor(ratio); }},
                {title: '95 % interval: low', head: '95 % interval', unit: 'ratio', number: true, value: function (row) { return row.low; },
                    text: function (low, row) { return d.ratio_interval(low, row.high); }},
                {title: 'lowest ratio', head: 'range', unit: 'ratio', number: true, value: function (row) { return row.from; },
                    text: function (from, row) { return d.ratio_interval(from, row.to); }},
                {title: 'highest ratio', head: 'largest', unit: 'ratio', number: true, value: function (row) { return row.to; }, text: function (ratio) { return d.factor(ratio); }},
                {title: 'faster', value: function (row) {
                    if (row.low === null || (row.low <= 1 && row.high >= 1)) { return 'no clear difference'; }
                    return name(row.ratio < 1 ? row.other : sides[0]);
                }},
                {title: 'kernels of both', number: true, value: function (row) { return row.shared; }},
                {title: 'kernels of first', number: true, value: function (row) { return row.first_has; }},
                {title: 'kernels of other', number: true, value: function (row) { return row.other_has; }}
            ]
        }));
    }

    function seconds(time) { return time.seconds; }

    function scatter(own, of, sides, first, other, what) {
        var all = own.flatMap(function (change) { return [seconds(change.first), seconds(change.other)]; });
        var ends = [Math.min.apply(null, all), Math.max.apply(null, all)];
        d.plot(at('scatter'), {
            name: 'scatter-' + of,
            title: 'Times of both sides, ' + what,
            sides: sides,
            described: 'Time of each kernel on ' + name(first) + ' (x) and on ' + name(other) + ' (y), as in the table above',
            x: {type: 'log', title: name(first), label: d.seconds},
            y: {type: 'log', title: name(other), label: d.seconds},
            series: [
                {label: 'equal', dash: 1, points: ends.map(function (end) { return {x: end, y: end}; })},
                {label: '', colour: 0, line: false, points: own.map(function (change) {
                    var time = change.first;
                    return {x: seconds(time), y: seconds(change.other), kind: 'hollow', said: [time.title || sides_of.problem_name(time), sides_of.problem_name(time),
                        d.words(time.set) + ', ' + d.words(time.operation), d.seconds(time.seconds) + ' and ' + d.seconds(change.other.seconds) + ': ' + d.factor(change.ratio)]};
                })}
            ]
        });
    }

    /* `labels` are the short names of the two sides, `view` the order and filter of the table. */
    function kernels(catalogue, first, other, family, precision, labels, view, viewed) {
        var own = sides_of.changes(first, other).filter(function (change) {
            return change.first.family === family && change.first.precision === precision;
        });
        var of = [family, precision, name(first), name(other)].join('-');
        var sides = name(other) + ' compared with ' + name(first), what = catalogue.headings[family] + ' at ' + d.words(precision);
        at('shared').hidden = !own.length;
        if (!own.length) { return; }
        d.comparison.distribution(at('curve'), own, labels, what);
        scatter(own, of, sides, first, other, what);
        d.table(at('kernels'), {
            name: 'kernels-' + of,
            title: 'Kernels that both have',
            rows: own,
            view: view,
            viewed: viewed,
            cards: true,
            taken: [d.same('family', d.words(family)), d.same('precision', precision),
                {title: 'readable name', value: function (change) { return change.first.title; }},
                {title: 'devices', value: function (change) {
                    return d.distinct([change.first.device, change.other.device]).join(' and ');
                }}],
            detail: function (change) {
                var place = el('div', {}, 'Loading\u2026');
                Promise.all([change.first, change.other].map(function (time) { return sides_of.detail(catalogue, time); }))
                    .then(function (found) { place.replaceChildren.apply(place, found); });
                return place;
            },
            columns: [
                {title: 'problem', value: function (change) { return sides_of.problem_name(change.first); }, cell: function (change) {
                    var title = change.first.title, id = sides_of.problem_name(change.first);
                    return title ? el('span', {}, title, el('br'), el('small', {}, id)) : id;
                }},
                {title: 'other / first', head: 'other compared with first', unit: 'ratio', number: true, value: function (change) { return change.ratio; }, text: function (ratio) { return d.factor(ratio); }, style: 'factor',
                    cell: function (change) { return el('span', {class: d.direction(change.ratio) || null}, d.factor(change.ratio)); }},
                {title: name(first), head: labels.first, unit: 'seconds', number: true, value: function (change) { return seconds(change.first); }, text: d.seconds},
                {title: name(other), head: labels.other, unit: 'seconds', number: true, value: function (change) { return seconds(change.other); }, text: d.seconds}
            ].concat(d.version_columns(own, function (change) { return [[labels.first, change.first.others], [labels.other, change.other.others]]; }), [
                {title: name(first) + ', of its roof', head: labels.first + ': share of roof', unit: 'share', number: true, value: function (change) { return change.first.of_roof; },
                    text: function (value) { return d.percent(value); }},
                {title: name(other) + ', of its roof', head: labels.other + ': share of roof', unit: 'share', number: true, value: function (change) { return change.other.of_roof; },
                    text: function (value) { return d.percent(value); }},
                d.intensity_column(function (change) { return change.first.intensity; }),
                {title: 'set', value: function (change) { return d.words(change.first.set); }},
                {title: 'pass', value: function (change) { return d.words(change.first.operation); }}
            ])
        });
    }

    function on_other_threads(pair) { return d.threads_differ(pair.first, pair.other); }

    function in_other_states(pair) { return !on_other_threads(pair); }

    /* How many times of pairs are on each number of threads, as `deepbench compare` says it. */
    function by_threads(pairs) {
        var all = pairs.flatMap(function (pair) { return [pair.first.threads, pair.other.threads]; });
        return d.distinct(all).sort().map(function (threads) { return all.filter(function (each) { return each === threads; }).length + ' on ' + threads; }).join(', ');
    }

    /* How many kernels of both sides are left out because of their numbers of threads, or of the states of their machine, in words; ''
       where there are none. */
    function left_out(catalogue, sides) {
        return sides.slice(1).flatMap(function (other) {
            function said(pairs, why) {
                var families = d.distinct(pairs.map(function (pair) { return pair.first.family; }));
                return pairs.length ? 'Left out: ' + d.counted(pairs.length, 'kernel') + ' that ' + name(other) + ' also has (' + families.map(function (family) {
                    return catalogue.headings[family] + ': ' + pairs.filter(function (pair) { return pair.first.family === family; }).length;
                }).join(', ') + '), since the two were measured ' + why + '.' : '';
            }
            var left = sides_of.left_out(sides[0], other), threads = left.filter(on_other_threads);
            return [said(threads, 'on unequal numbers of threads: ' + by_threads(threads)), said(left.filter(in_other_states), 'in different or unknown states of the machine')];
        }).filter(Boolean).join(' ');
    }

    /* Which sides share no kernel with the first, in words; '' where all do. */
    function apart(catalogue, sides, family, precision) {
        if (!family) { return name(sides[0]) + ' has no steady time to compare.'; }
        function kernels_of(side, one) { return name(side) + ' has ' + d.counted(sides_of.count(side, one, family, precision), 'kernel'); }
        return sides.slice(1).filter(function (other) {
            return !sides_of.changes(sides[0], other).some(function (change) {
                return change.first.family === family && change.first.precision === precision;
            });
        }).map(function (other) {
            var left = sides_of.left_out(sides[0], other).filter(function (pair) { return pair.first.family === family && pair.first.precision === precision; });
            var same = [left.some(on_other_threads) && ' on the same number of threads', left.some(in_other_states) && ' in the same state of the machine'].filter(Boolean).join(' and');
            return 'These sides share no kernel of ' + catalogue.headings[family] + ' at ' + d.words(precision) + same + ': ' + kernels_of(sides[0], other) + ', ' + kernels_of(other, sides[0]) + '.';
        }).join(' ');
    }

    /* Fill the choice of a framework or a pass of problems over releases; one that the user has picked stays. */
    function offer_of_releases(name, known, picked) {
        d.offer(at('heat-' + name), d.distinct(known.concat(picked[name] || [])), null, picked[name]);
    }

    /* The same before the lines are loaded, from newest times: frameworks with several releases on the machine, and their passes. */
    function offer_before_lines(catalogue, machine, family, precision, picked) {
        return d.load('data/newest/' + machine.key).then(function (found) {
            function passes(framework) {
                var kernels = found.kernels;
                return Object.values(found.times[framework] || {}).flat().map(function (row) { return row[0]; })
                    .filter(function (place) { return kernels.family[place] === family && kernels.precision[place] === precision; }).map(function (place) { return kernels.operation[place]; });
            }
            offer_of_releases('framework', machine.frameworks.filter(function (framework) {
                return passes(framework).length && machine.releases.filter(function (place) { return catalogue.releases[place].framework === framework; }).length > 1;
            }), picked);
            offer_of_releases('operation', passes(at('heat-framework').value), picked);
        }).catch(function () {});  /* the lines have the choices, too */
    }

    var heats = 0;  /* the newest choice is shown, whose times may be loaded first */
    function heat(catalogue, machine, lines, family, precision, picked) {
        var some = lines.filter(function (line) {
            return line.family === family && line.precision === precision && d.count_of_times(line) > 1 &&
                (!at('application').value || line.problem.application === at('application').value);
        });
        offer_of_releases('framework', some.map(function (line) { return line.framework; }), picked);
        some = some.filter(function (line) { return line.framework === at('heat-framework').value; });
        offer_of_releases('operation', some.map(function (line) { return line.operation; }), picked);
        some = some.filter(function (line) { return line.operation === at('heat-operation').value; });
        at('heat').hidden = !some.length;
        var choice = [at('heat-framework').value, d.words(at('heat-operation').value)].filter(Boolean).join(', ');
        at('heat-summary').textContent = some.length ? '' : 'On ' + machine + ' no problem of ' + catalogue.headings[family] + ' at ' + d.words(precision) +
            ' was measured at two releases or more' + (choice && ' with ' + choice) + '.';
        var picture = {
            name: ['releases', family, precision, machine, at('heat-framework').value, at('heat-operation').value].join('-'),
            title: 'Problems and releases, ' + [catalogue.headings[family], d.words(at('heat-operation').value), d.words(precision)].join(', '),
            sides: at('heat-framework').value + ' on ' + machine + ', relative to the first steady time'
        };
        var own = heats += 1;
        return some.length && d.with_times(catalogue, some).then(function (whole) {
            if (own === heats) { d.comparison.releases(at('heat'), catalogue, whole, picture); }
        });
    }

    d.page(function (catalogue) {
        var machines = catalogue.machines.filter(function (machine) { return Object.keys(machine.families).length; });
        if (!machines.length) { return d.instead('No machine has results yet. Measure some with "asv run", then run "asv publish" again.'); }
        var asked = d.asked(), wanted = asked.getAll('side').map(sides_of.parsed).filter(known);
        var picked = {framework: asked.get('framework'), operation: asked.get('operation')};
        var view = {sort: asked.get('sort') || '', find: asked.get('find') || ''}, chosen_now = null;
        var tables = d.table_views(['families'], function (typing) { d.remember(chosen_now(), typing); });

        function known(side) {
            var there = machines.some(function (machine) { return machine.name === side.machine; });
            if (!there) { d.not_here('machine', side.machine); }
            return there;
        }

        /* `sides` with a further one that shares kernels with the first; with the first one again where none does. */
        function with_partner(sides) {
            return sides_of.partner(catalogue, machines, sides).then(function (found) { return sides.concat(found || Object.assign({}, sides[0])); });
        }

        /* Two sides or more; without any in the address, two frameworks of a machine. */
        function completed(sides) {
            if (sides.length > 1) { return Promise.resolve(sides); }
            if (sides.length) { return with_partner(sides); }
            var first = d.first_machine(catalogue);
            return sides_of.pair(catalogue, d.ranked_machines(catalogue)).then(function (found) {
                return found || with_partner([{machine: first.name, of: first.frameworks[0]}]);
            });
        }

        function controls() {
            at('sides').replaceChildren.apply(at('sides'), wanted.map(function (side, place) {
                var which = place ? (wanted.length > 2 ? 'Other ' + place : 'Other') : 'First';
                var machine = el('select', {}), of = el('select', {});
                d.offer(machine, machines.map(function (each) { return [each.name, each.name]; }), null, side.machine);
                function choices(asked) {
                    var found = machines.find(function (each) { return each.name === machine.value; });
                    d.offer(of, found.frameworks.map(function (framework) { return [framework, 'newest of ' + framework]; })
                        .concat(found.releases.map(function (place) {
                            return [catalogue.releases[place].name, catalogue.releases[place].name];
                        })), null, asked);
                }
                var parts = [el('b', {}, which), el('label', {}, el('span', {class: 'status'}, which + ' machine '), machine), el('label', {}, el('span', {class: 'status'}, which + ' release '), of)];
                choices(side.of);
                machine.addEventListener('change', function () { choices(); changed(); });
                of.addEventListener('change', changed);
                function changed() { wanted[place] = {machine: machine.value, of: of.value}; draw(); }
                side.of = of.value;
                if (place > 1) {
                    parts.push(el('button', {type: 'button', click: function () {
                        wanted.splice(place, 1);
                        controls();
                        at('add').focus();
                        draw();
                    }}, 'Remove ' + place));
                }
                return el('span', {class: 'side'}, parts);
            }));
            at('add').hidden = wanted.length >= MOST;
        }
        at('add').onclick = function () { return d.answer(with_partner(wanted), chosen); };
        wanted.forEach(function (side) { side.of = side.of || machines.find(function (machine) { return machine.name === side.machine; }).frameworks[0]; });
        return completed(wanted).then(chosen);

        function chosen(sides) {
            wanted = sides;
            controls();
            return draw();
        }

        function draw() {
            return d.answer(Promise.all(wanted.map(function (side) {
                var machine = machines.find(function (each) { return each.name === side.machine; });
                return sides_of.load(catalogue, machine, side);
            })), function (sides) {
                var several = sides.map(sides_of.devices).filter(function (some) { return some.length > 1; });
                at('device').parentNode.hidden = !several.length;
                d.offer(at('device'), d.distinct(several.flat()).sort(), d.device({}), asked.get('device'));
                d.offer(at('application'), [['', 'all']].concat(sides_of.applications(sides).filter(Boolean).map(function (one) { return [one, one]; })), '', asked.get('application'));
                sides.forEach(function (side) { side.times = sides_of.times_on(side, at('device').value, at('application').value); });
                var rows = sides_of.groups(catalogue, sides), short = sides_of.short_names(sides);
                groups(catalogue, sides, rows, tables.of('families'));
                chosen_now = choice;
                /* Families and precisions of kernels that both sides have, else those of the first side. */
                var shared = sides.slice(1).flatMap(function (other) { return sides_of.changes(sides[0], other); });
                var left = sides.slice(1).flatMap(function (other) { return sides_of.left_out(sides[0], other); });
                var both = rows.concat(shared.concat(left).map(function (pair) { return pair.first; }));
                var choices = [both, sides[0].all.filter(function (time) { return sides[0].times.in_sets.has(time.key); }), sides[0].all].find(function (some) { return some.length; }) || [];
                at('left-out').textContent = left_out(catalogue, sides);
                at('by-family').hidden = !rows.length;
                at('tables').hidden = !shared.length;
                d.offer(at('family'), d.distinct(choices.map(function (row) { return row.family; })).map(function (family) {
                    return [family, catalogue.headings[family]];
                }), null, asked.get('family'));
                d.offer(at('other'), sides.slice(1).map(function (side, i) { return [String(i + 1), short.names[i + 1]]; }), null, asked.get('other'));
                at('other').parentNode.hidden = sides.length < 3;
                at('device').onchange = at('application').onchange = draw;
                at('family').onchange = function () { picked = {}; family_chosen(); };
                at('precision').onchange = function () { picked = {}; shown(); };
                at('other').onchange = shown;
                at('heat-framework').onchange = function () { picked = {framework: at('heat-framework').value}; heated().then(releases_chosen); };
                at('heat-operation').onchange = function () { picked.operation = at('heat-operation').value; heated().then(releases_chosen); };
                return family_chosen();

                function choice(values) {
                    return Object.assign({side: wanted.map(name), family: at('family').value, precision: at('precision').value, other: at('other').value,
                        device: at('device').value, application: at('application').value, framework: picked.framework, operation: picked.operation, sort: view.sort, find: view.find}, tables.fields(), values);
                }
                function address(row) {
                    return d.address(choice({family: row.family, precision: row.precision, other: String(sides.indexOf(row.other)), framework: '', operation: ''}));
                }
                function family_chosen() {
                    d.offer(at('precision'), d.distinct(choices.filter(function (row) { return row.family === at('family').value; })
                        .map(function (row) { return row.precision; })).sort(), 'float32', asked.get('precision'));
                    return shown();
                }
                function shown() {
                    var turn = Number(at('other').value) || 1, other = sides[turn], family = at('family').value, precision = at('precision').value;
                    var labels = {first: short.names[0], other: short.names[turn]};
                    at('kernels-of').textContent = family ? 'Kernels: ' + catalogue.headings[family] + ', ' + d.words(precision) : 'Kernels';
                    at('releases').hidden = !family;
                    at('apart').textContent = apart(catalogue, sides, family, precision);
                    var both = [other, sides[0]].map(function (side) { return d.unsigned_mark(machines.find(function (each) { return each.name === side.machine; })); });
                    at('who').replaceChildren.apply(at('who'), [(short.shared ? short.shared + ': ' : '') + labels.other + ' '].concat(other.machine === sides[0].machine ? [] : both[0],
                        'compared with ' + labels.first + ' ', both[1]));
                    d.comparison.forest(at('forest'), catalogue, rows.filter(function (row) { return row.other === other; }), labels, address);
                    d.comparison.heat(at('sides-heat'), catalogue, rows, sides, short.names, precision, address);
                    kernels(catalogue, sides[0], other, family, precision, labels, view, function (next, typing) {
                        view = next;
                        d.remember(choice(), typing);
                    });
                    d.remember(choice());
                    asked = new URLSearchParams();
                    return offer_before_lines(catalogue, machine_of_first(), family, precision, picked).then(function () { d.when_seen(at('releases'), heated); });
                }
                function machine_of_first() { return machines.find(function (each) { return each.name === sides[0].machine; }); }

                function releases_chosen() {
                    d.remember(choice());
                    if (at('heat').getBoundingClientRect().top > innerHeight) { at('releases').scrollIntoView(); }
                }

                /* The lines are a large file, so it is loaded when its table comes into view. */
                function heated() {
                    var machine = machine_of_first();
                    return d.lines_to_choose(catalogue, machine, at('family').value).then(function (lines) {
                        return heat(catalogue, machine.name, lines, at('family').value, at('precision').value, picked);
                    }).catch(function (reason) { at('heat-summary').textContent = 'This table cannot be shown: ' + reason.message + '.'; });
                }
            });
        }
    });
})();
