/* Whole models: published tables next to measured times, percentiles of latency, overhead, scaling. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };
    var cell = d.model_rows.cell, unlike = d.model_rows.unlike, per_second = d.model_rows.per_second;
    var LATENCIES = 8;  /* rows of bars shown at first */

    /* A distinct text for each row: `base(row)`, then as many texts of `more` as equal rows need, then a number. */
    function distinct_labels(rows, base, more) {
        var texts = rows.map(base);
        function twice(text) { return texts.indexOf(text) !== texts.lastIndexOf(text); }
        more.forEach(function (read) {
            var alike = texts.map(function (text) {
                return twice(text) && d.distinct(rows.filter(function (row, i) { return texts[i] === text; }).map(read)).length > 1;
            });
            texts = texts.map(function (text, i) { return alike[i] ? text + ', ' + read(rows[i]) : text; });
        });
        return texts.map(function (text, i) {
            return twice(text) ? text + ', ' + (texts.slice(0, i).filter(function (other) { return other === text; }).length + 1) : text;
        });
    }

    function command(row, machine) {
        var here = cell(row, machine);
        return here && d.command(Object.assign({}, here, here.unusual, {problem: {id: here.problem}}), {name: here.release});
    }

    function table(data, name, machine, machines, view, viewed) {
        var rows = data.tables[name];
        at('summary').textContent = data.sources[name].about + ' Published on ' + rows[0].day + ' (' + rows[0].basis + ').' + (data.unsteady[machine]
            ? ' ' + d.counted(data.unsteady[machine], 'unsteady time') + ' of ' + machine + (data.unsteady[machine] === 1 ? ' is' : ' are') + ' left out.' : '');
        d.table(at('rows'), {
            name: 'models-' + name,
            title: 'Published by ' + data.sources[name].title,
            rows: rows,
            cards: true,
            view: view,
            viewed: viewed,
            detail: function (row) {
                return el('div', {}, el('p', {}, row.told), el('p', {}, row.no_point &&
                    'Not on the timeline: ' + row.no_point + '.'), data.machines.map(function (machine) {
                    var text = command(row, machine), why = (row.here[machine] || {}).why_not;
                    return el('div', {}, d.marked_name(machine, machines[machine]), text ? d.command_block(text) : '', (why || []).map(function (each) {
                        return el('p', {}, each);
                    }));
                }), d.command_block('deepbench table ' + name));
            },
            columns: [
                {title: 'model', value: function (row) { return row.printed; }},
                {title: 'pass', value: function (row) { return d.words(row.operation); }},
                {title: 'precision', value: function (row) { return row.precision || 'not stated'; }},
                {title: 'batch', number: true, value: function (row) { return row.batch; }},
                {title: 'threads', number: true, value: function (row) { return row.threads; }},
                {title: 'devices', number: true, value: function (row) { return row.devices; }},
                {title: 'machine', value: function (row) { return row.machine; }},
                {title: 'framework', value: function (row) { return row.framework; }},
                {title: 'published', number: true, value: function (row) { return row.published; }},
                {title: 'unit', value: function (row) { return row.unit; }},
                {title: 'also reported', head: 'other figures', long: true, value: function (row) { return row.told; }},
                {title: 'time per step', unit: 'seconds', number: true, value: function (row) { return row.seconds || null; }, text: d.seconds}
            ].concat(data.machines.flatMap(function (machine) {
                return [
                    {title: machine, head: d.marked_name(machine, machines[machine]), label: machine + d.unsigned_words(machines[machine]),
                        unit: 'items/s', number: true, value: function (row) { return (cell(row, machine) || {}).per_second; },
                        text: function (value, row) { return d.digits(value, 4) + '/s' + (unlike(row, machine) && ' at ' + unlike(row, machine)); }},
                    {title: machine + ': measured otherwise', head: 'differences', long: true, value: function (row) {
                        return cell(row, machine) ? row.here[machine].differs.join(', ') : '';
                    }},
                    {title: machine + ': why', head: 'why not measured', long: true, value: function (row) {
                        return ((row.here[machine] || {}).why_not || []).join('; ');
                    }}
                ];
            }))
        });
        d.model_rows.bars(at('chart'), rows, machine, data.sources[name].title, machines[machine]);
    }

    /* The column of the machine that measured a row. */
    function machine_column(machines) {
        return {title: 'machine', value: function (row) { return row.machine; }, cell: function (row) { return d.marked_name(row.machine, machines[row.machine]); }};
    }

    function latency(data, machines, view) {
        var rows = data.latency;
        at('latency-chart').hidden = !rows.length;
        if (!rows.length) {
            at('latency').replaceChildren(el('p', {}, 'No latency is stored yet. This command measures and stores it:'), d.command_block('deepbench latency resnet50 --save'));
            return;
        }
        var PARTS = [['median', 'median_seconds', 'measured'], ['90 %', 'p90_seconds', 'late'], ['99 %', 'p99_seconds', 'later']];
        var labels = distinct_labels(rows, function (row) {
            return row.model + ', batch ' + row.batch + (row.threads > 1 ? ', ' + row.threads + ' at once' : '');
        }, ['precision', 'by', 'machine', 'release', 'device'].map(function (key) { return function (row) { return row[key]; }; }));
        var bars = d.bar_rows(rows.map(function (row, place) {
            return {name: labels[place], note: [[row.by, row.precision, ''].join(', '), d.marked_name(row.machine, machines[row.machine]), ['', row.release].join(', ')], bars: PARTS.map(function (part) {
                var value = row[part[1]];
                return {kind: part[2], value: value, text: part[0] + ': ' + (value ? d.seconds(value) : row.why_not[part[1]] || 'not known')};
            })};
        }), ['model', 'time of a batch, on a logarithmic scale'], LATENCIES);
        at('latency-chart').replaceChildren(bars, el('div', {class: 'tools'}, d.picture_buttons(function () { return bars; }, function () {
            return {name: 'latency', title: 'Latency of a batch: median, 90 % and 99 %', sides: d.distinct(rows.map(function (row) { return row.machine + ', ' + row.release; })).join('; ')};
        })));
        d.table(at('latency'), Object.assign(view, {
            cards: true,
            name: 'latency',
            title: 'Latency',
            rows: rows,
            detail: function (row) {
                return d.command_block('deepbench latency ' + row.model + ' --batch ' + row.batch + ' --at-once ' + row.threads +
                    ' --precision ' + row.precision + ' --by ' + row.by + (row.layout ? ' --layout ' + row.layout : '') +
                    (row.inter_op ? ' --inter-op ' + row.inter_op : ''));
            },
            columns: [
                {title: 'model', value: function (row) { return row.model; }},
                machine_column(machines),
                {title: 'batch', number: true, value: function (row) { return row.batch; }},
                {title: 'threads', number: true, value: function (row) { return row.threads; }},
                {title: 'precision', value: function (row) { return row.precision; }},
                {title: 'by', value: function (row) { return row.by; }},
                {title: 'layout', value: function (row) { return d.words(row.layout || 'published'); }},
                {title: 'inter-op', number: true, value: function (row) { return row.inter_op_threads; }},
                {title: 'release', value: function (row) { return row.release; }}
            ].concat(PARTS.map(function (part) {
                return {title: part[0], unit: 'seconds', number: true, value: function (row) { return row[part[1]]; }, text: d.seconds,
                    missing: function (row) { return row.why_not[part[1]] || ''; }};
            }), d.version_columns(rows, function (row) { return [['', d.other_versions(row.median_seconds, row.conflict)]]; }), [
                {title: 'batches', number: true, value: function (row) { return row.batches; }},
                {title: 'items a second', head: 'items per second', unit: 'items/s', number: true, value: function (row) { return row.batch * row.threads / row.median_seconds; },
                    text: function (value) { return d.digits(value, 4); }}
            ])
        }));
    }

    function overhead(data, machines, view) {
        var rows = data.apart;
        if (!rows.length) {
            at('overhead').replaceChildren(el('p', {}, 'No operations were measured one by one yet. This command measures them:'),
                d.command_block('asv run --bench "$(deepbench select models-inference --apart)" torch'));
            return;
        }
        function percent(value) {
            return (100 * value).toFixed(1) + ' %';
        }
        function end(place) {
            return function (row) { return row.interval.length ? row.interval[place] : null; };
        }
        d.table(at('overhead'), Object.assign(view, {
            cards: true,
            name: 'overhead',
            title: 'Overhead',
            rows: rows,
            detail: function (row) {
                return d.command_block('deepbench overhead ' + row.problem.replace(/_b\d+$/, '') + ' --machine ' + d.quoted(row.machine));
            },
            columns: [
                {title: 'model', long: true, value: function (row) { return row.problem; }, cell: function (row) {
                    return el('span', {}, row.title, el('br'), el('small', {}, row.problem));
                }},
                {title: 'pass', value: function (row) { return d.words(row.operation); }},
                {title: 'precision', value: function (row) { return row.precision; }},
                {title: 'conditions', value: d.conditions},
                machine_column(machines),
                {title: 'release', value: function (row) { return row.release; }},
                {title: 'step', unit: 'seconds', number: true, value: function (row) { return row.seconds; }, text: d.seconds},
                {title: 'operations alone', unit: 'seconds', number: true, value: function (row) { return row.operations; }, text: d.seconds},
                {title: 'overhead', unit: 'share', number: true, value: function (row) { return 1 - row.operations / row.seconds; }, text: percent},
                {title: 'overhead, from', head: 'from', unit: 'share', number: true, value: end(0), text: percent},
                {title: 'overhead, to', head: 'to', unit: 'share', number: true, value: end(1), text: percent}
            ]
        }));
    }

    /* Published rows of several devices, and measured ones of several ranks, as lines over their numbers. */
    function scaling(data, machines, view) {
        var groups = {};
        function add(key, about, devices, rate, others) {
            groups[key] = groups[key] || {about: about, points: []};
            groups[key].points.push({devices: devices, rate: rate, others: others});
        }
        Object.entries(data.tables).forEach(function (pair) {
            pair[1].filter(per_second).forEach(function (row) {
                var about = {model: row.printed, pass: row.operation, machine: row.machine, precision: row.precision, of: row.framework,
                    batch: row.batch, how: row.conditions, command: 'deepbench table ' + pair[0]};
                add(JSON.stringify(about), about, row.devices, row.published, []);
            });
        });
        /* The launchers, '' for none, that started ranks of the same training; one rank alone had none, and is compared with each. */
        function launchers(row) {
            if (row.launcher || row.ranks > 1) { return [row.launcher || '']; }
            var found = data.scaling.filter(function (other) {
                return (other.launcher || other.ranks > 1) && ['model', 'machine', 'precision', 'release', 'batch', 'split', 'device', 'threads'].every(function (name) { return other[name] === row[name]; });
            });
            return found.length ? d.distinct(found.map(function (other) { return other.launcher || ''; })) : [''];
        }
        data.scaling.forEach(function (row) {
            launchers(row).forEach(function (launcher) {
                var split = row.split ? ' --split' : '', batch = ' --batch ' + row.batch;
                var how = [row.device !== 'cpu' && 'on ' + row.device, row.split && 'tables split over the ranks', launcher && 'ranks started by ' + launcher].filter(Boolean).join(', ');
                var device = row.device === 'cpu' ? '' : ' --device ' + row.device;
                var about = {model: row.model, pass: 'training_step', machine: row.machine, precision: row.precision, of: row.release,
                    batch: row.batch, threads: d.counted(row.threads, 'thread') + ' each', how: how, command: 'deepbench scaling ' + row.model + batch + split + device};
                var key = JSON.stringify(about);
                add(key, about, row.ranks, row.batch * row.ranks / row.step_seconds, d.other_versions(row.step_seconds, row.conflict));
                groups[key].measured = true;
                groups[key].known = machines[row.machine];
                if (row.interconnect) {
                    groups[key].about.command = 'deepbench fleet plan --nodes ' + row.nodes + ' --ranks-per-node ' + row.ranks_per_node +
                        ' --interconnect ' + row.interconnect + ' --launcher ' + row.launcher + ' --training ' + row.model + batch + split;
                }
            });
        });
        function counts(group) { return d.distinct(group.points.map(function (point) { return point.devices; })); }
        var alone = Object.values(groups).filter(function (group) { return group.measured && counts(group).length < 2; });
        at('scaling-alone').textContent = alone.length ? 'Not shown, since efficiency needs two numbers of ranks: ' + alone.map(function (group) {
            return [group.about.model, group.about.machine, group.about.how, d.counted(group.points[0].devices, 'rank')].filter(Boolean).join(', ');
        }).join('; ') + '.' : '';
        var rows = Object.values(groups).flatMap(function (group) {
            var points = group.points.sort(function (a, b) { return a.devices - b.devices; });
            if (counts(group).length < 2) { return []; }
            return points.map(function (point) {
                return Object.assign({group: group, efficiency: point.rate / point.devices / (points[0].rate / points[0].devices)}, point);
            });
        });
        at('scaling-chart').hidden = !rows.length;
        if (!rows.length) {
            at('scaling').replaceChildren(el('p', {}, (alone.length ? '' : 'No scaling is stored yet. ') + 'This command measures and stores it:'), d.command_block('deepbench scaling wide_deep --batch 1000 --save'));
            return;
        }
        var lines = d.distinct(rows.map(function (row) { return row.group; }));
        var names = distinct_labels(lines, function (group) {
            return [group.about.model, group.about.machine + d.unsigned_words(group.known), group.about.how].filter(Boolean).join(', ');
        }, ['precision', 'pass', 'of', 'batch', 'threads'].map(function (key) {
            return function (group) { return (key === 'batch' ? 'batch ' : '') + d.words(group.about[key] || 'not stated'); };
        }));
        d.plot(at('scaling-chart'), {
            name: 'scaling',
            title: 'Efficiency of training on several devices',
            sides: names.join('; '),
            described: 'Efficiency of training over the number of devices, as in the table below',
            x: {type: 'log', title: 'devices or ranks', label: String, ticks: d.doubling_ticks},
            y: {type: 'linear', title: 'efficiency', including: [0], label: function (value) { return d.digits(value, 3) + ' %'; }},
            series: lines.map(function (group, place) {
                return {label: names[place], colour: place, dash: place, points: rows.filter(function (row) { return row.group === group; }).map(function (row) {
                    return {x: row.devices, y: 100 * row.efficiency, kind: 'filled', said: [names[place], d.counted(row.devices, 'device') + ': ' + d.percent(row.efficiency)]};
                })};
            })
        });
        d.table(at('scaling'), Object.assign(view, {
            cards: true,
            name: 'scaling',
            title: 'Scaling',
            rows: rows,
            detail: function (row) { return d.command_block(row.group.about.command); },
            columns: [
                {title: 'model', value: function (row) { return row.group.about.model; }},
                {title: 'machine', value: function (row) { return row.group.about.machine; },
                    cell: function (row) { return d.marked_name(row.group.about.machine, row.group.known); }},
                {title: 'precision', value: function (row) { return row.group.about.precision || 'not stated'; }},
                {title: 'pass', value: function (row) { return d.words(row.group.about.pass); }},
                {title: 'batch', number: true, value: function (row) { return row.group.about.batch; }},
                {title: 'with', head: 'framework', value: function (row) { return row.group.about.of; }},
                {title: 'how', head: 'conditions', long: true, value: function (row) {
                    return [row.group.about.threads, row.group.about.how].filter(Boolean).join(', ');
                }},
                {title: 'devices', number: true, value: function (row) { return row.devices; }},
                {title: 'items a second', head: 'items per second', unit: 'items/s', number: true, value: function (row) { return row.rate; }, text: function (value) { return d.digits(value, 4); }},
                {title: 'efficiency', unit: 'share', number: true, value: function (row) { return row.efficiency; },
                    text: function (value) { return d.percent(value); }}
            ].concat(d.version_columns(rows, function (row) { return [['', row.others]]; }))
        }));
    }

    /* The machine of the address, else the one that published, else that with the most figures next to those of the table. */
    function usual_machine(data, catalogue, rows) {
        function count(machine) { return rows.filter(function (row) { return cell(row, machine); }).length; }
        var most = data.machines.slice().sort(function (a, b) { return count(b) - count(a); })[0];
        return count(catalogue.here) ? catalogue.here : most;
    }

    d.page(function (catalogue) {
        return d.load('data/models').then(function (data) {
            var machines = Object.fromEntries(catalogue.machines.map(function (machine) { return [machine.name, machine]; }));
            var asked = d.asked(), view = {sort: asked.get('sort') || '', find: asked.get('find') || ''};
            var views = d.table_views(['latency', 'overhead', 'scaling'], remember);
            d.offer(at('table'), Object.keys(data.tables).map(function (name) { return [name, data.sources[name].title]; }), 'stcp920',
                asked.get('table'));
            d.offer(at('machine'), data.machines.map(function (name) { return [name, name]; }), usual_machine(data, catalogue, data.tables[at('table').value]), asked.get('machine'));
            at('machine').parentNode.hidden = !data.machines.length;
            function remember(typing) { d.remember(Object.assign({table: at('table').value, machine: at('machine').value}, view, views.fields()), typing); }
            function show() {
                d.mark_choice(at('machine'), machines[at('machine').value]);
                table(data, at('table').value, at('machine').value, machines, view, function (next, typing) {
                    Object.assign(view, next);
                    remember(typing);
                });
            }
            at('table').onchange = at('machine').onchange = function () {
                remember();
                show();
            };
            show();
            latency(data, machines, views.of('latency'));
            overhead(data, machines, views.of('overhead'));
            scaling(data, machines, views.of('scaling'));
        });
    });
})();
