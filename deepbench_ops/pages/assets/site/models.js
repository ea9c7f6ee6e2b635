/* Whole models: published tables next to measured times, percentiles of latency, overhead, scaling. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };
    function label(row) {
        return row.printed + (row.batch ? ', batch ' + row.batch : '') + (row.threads > 1 ? ' x ' + row.threads : '') +
            (row.devices > 1 ? ', ' + row.devices + ' devices' : '');
    }

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

    var APART = ['precision', 'operation', 'machine', 'framework', 'conditions'].map(function (key) {
        return function (row) { return d.words(row[key] || 'not stated'); };
    });

    /* Height and axis of a chart with a row for each label; labels have `lines` lines. */
    function by_row(labels, lines) {
        return {
            room: {height: (8 + 14 * lines) * labels.length + 130},
            layout: {yaxis: {type: 'category', autorange: 'reversed', tickfont: {size: 10}, categoryorder: 'array', categoryarray: labels}}
        };
    }

    function per_second(row) {
        return /\/sec$/.test(row.unit) ? row.published : null;
    }

    function cell(row, machine) {
        return row.here[machine] && row.here[machine].per_second ? row.here[machine] : null;
    }

    /* The precision of a measured cell where it differs from the published one, or that is not known. */
    function unlike(row, machine) {
        var here = cell(row, machine);
        return here && here.differs.includes(here.precision) ? here.precision : '';
    }

    function command(row, machine) {
        var here = cell(row, machine);
        return here && d.command(Object.assign({}, here, here.unusual, {problem: {id: here.problem}}), {name: here.release});
    }

    function table(data, name) {
        var rows = data.tables[name];
        at('summary').textContent = data.sources[name].about + ' Published on ' + rows[0].day + ' (' + rows[0].basis + ').';
        d.table(at('rows'), {
            name: 'models-' + name,
            title: 'Published by ' + data.sources[name].title,
            rows: rows,
            detail: function (row) {
                return el('div', {}, el('p', {}, row.told), el('p', {}, row.no_point &&
                    'Not on the timeline: ' + row.no_point + '.'), data.machines.map(function (machine) {
                    var text = command(row, machine), why = (row.here[machine] || {}).why_not;
                    return el('div', {}, machine, text ? d.command_block(text) : '', (why || []).map(function (each) {
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
                {title: 'ms a step', head: 'time per step', unit: 'milliseconds', number: true, value: function (row) { return row.seconds ? 1e3 * row.seconds : null; },
                    text: function (value) { return d.digits(value, 4) + ' ms'; }}
            ].concat(data.machines.flatMap(function (machine) {
                return [
                    {title: machine, unit: 'items/s', number: true, value: function (row) { return (cell(row, machine) || {}).per_second; },
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
        var drawable = rows.filter(per_second);
        at('chart').hidden = !drawable.length;
        if (drawable.length) { throughput(data, name, drawable); }
    }

    function throughput(data, name, rows) {
        var labels = distinct_labels(rows, function (row) { return label(row) + ', ' + (row.precision || 'precision not stated'); }, APART).map(d.plain);
        var shape = by_row(labels, 1);
        function points(name, looks, rate, differs) {
            return {type: 'scatter', mode: 'markers', name: d.plain(name), y: labels, x: rows.map(rate),
                text: rows.map(differs || function () { return ''; }), hovertemplate: '%{y}: %{x:.4g} items per second<br>%{text}',
                marker: {color: looks.colour, symbol: looks.symbol, size: 9}};
        }
        d.chart(at('chart'), {
            name: 'models-' + name,
            room: shape.room,
            title: 'Whole models, items per second',
            sides: 'Published by ' + data.sources[name].title + '; measured on ' + (data.machines.join(', ') || 'no machine'),
            described: 'Items per second of each model, as published and as measured, as in the table below',
            build: function () {
                return {
                    traces: [points('as published', d.looks(0), per_second)].concat(data.machines.flatMap(function (machine, place) {
                        return d.distinct(rows.map(function (row) { return unlike(row, machine); })).map(function (precision) {
                            var looks = d.looks(place + 1);
                            return points(machine + (precision && ', at ' + precision + ' instead'),
                                precision ? Object.assign(looks, {symbol: looks.symbol + '-open'}) : looks, function (row) {
                                    return cell(row, machine) && unlike(row, machine) === precision ? cell(row, machine).per_second : null;
                                }, function (row) { return ((row.here[machine] || {}).differs || []).join(', '); });
                        });
                    })).filter(function (trace) { return trace.x.some(Boolean); }),
                    layout: Object.assign({xaxis: {type: 'log', title: 'items per second', label: function (value) { return d.scaled(value, '').trim(); }}}, shape.layout)
                };
            }
        });
    }

    function latency(data) {
        var rows = data.latency;
        at('latency-chart').hidden = !rows.length;
        if (!rows.length) {
            at('latency').replaceChildren(el('p', {}, 'No latency is stored yet. This command measures and stores it:'), d.command_block('deepbench latency resnet50 --save'));
            return;
        }
        var PARTS = [['median', 'median_seconds'], ['90 %', 'p90_seconds'], ['99 %', 'p99_seconds']];
        var labels = distinct_labels(rows, function (row) {
            return row.model + ', batch ' + row.batch + ' x ' + row.threads + '\n' + row.by + ', ' + row.machine;
        }, ['precision', 'release', 'device'].map(function (key) { return function (row) { return row[key]; }; }))
            .map(function (text) { return d.plain(text).replace('\n', '<br>'); });
        var shape = by_row(labels, 2);
        d.chart(at('latency-chart'), {
            name: 'latency',
            room: shape.room,
            title: 'Latency of a batch: median, 90 % and 99 %',
            sides: d.distinct(rows.map(function (row) { return row.machine + ', ' + row.release; })).join('; '),
            described: 'Latency of a batch, median and percentiles, as in the table below',
            build: function () {
                return {
                    traces: PARTS.map(function (part, place) {
                        var looks = d.looks(place);
                        return {type: 'scatter', mode: 'markers', name: part[0],
                            y: labels, x: rows.map(function (row) { return row[part[1]]; }),
                            hovertemplate: '%{y}: %{x:.4g} s', marker: {color: looks.colour, symbol: looks.symbol, size: 9}};
                    }),
                    layout: Object.assign({xaxis: {type: 'log', title: 'time of a batch', label: d.seconds}}, shape.layout)
                };
            }
        });
        d.table(at('latency'), {
            name: 'latency',
            title: 'Latency',
            rows: rows,
            detail: function (row) {
                return d.command_block('deepbench latency ' + row.model + ' --batch ' + row.batch + ' --threads ' + row.threads +
                    ' --precision ' + row.precision + ' --by ' + row.by + (row.layout ? ' --layout ' + row.layout : '') +
                    (row.inter_op ? ' --inter-op ' + row.inter_op : ''));
            },
            columns: [
                {title: 'model', value: function (row) { return row.model; }},
                {title: 'machine', value: function (row) { return row.machine; }},
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
            }), [
                {title: 'batches', number: true, value: function (row) { return row.batches; }},
                {title: 'items a second', head: 'items per second', unit: 'items/s', number: true, value: function (row) { return row.batch * row.threads / row.median_seconds; },
                    text: function (value) { return d.digits(value, 4); }}
            ])
        });
    }

    function overhead(data) {
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
        d.table(at('overhead'), {
            name: 'overhead',
            title: 'Overhead',
            rows: rows,
            detail: function (row) {
                return d.command_block('deepbench overhead ' + row.problem.replace(/_b\d+$/, '') + ' --machine ' + d.quoted(row.machine));
            },
            columns: [
                {title: 'model', value: function (row) { return row.problem; }},
                {title: 'pass', value: function (row) { return d.words(row.operation); }},
                {title: 'precision', value: function (row) { return row.precision; }},
                {title: 'conditions', value: d.conditions},
                {title: 'machine', value: function (row) { return row.machine; }},
                {title: 'release', value: function (row) { return row.release; }},
                {title: 'step', unit: 'seconds', number: true, value: function (row) { return row.seconds; }, text: d.seconds},
                {title: 'operations alone', unit: 'seconds', number: true, value: function (row) { return row.operations; }, text: d.seconds},
                {title: 'overhead', unit: 'share', number: true, value: function (row) { return 1 - row.operations / row.seconds; }, text: percent},
                {title: 'overhead, from', head: 'from', unit: 'share', number: true, value: end(0), text: percent},
                {title: 'overhead, to', head: 'to', unit: 'share', number: true, value: end(1), text: percent}
            ]
        });
    }

    /* Published rows of several devices, and measured ones of several ranks, as lines over their numbers. */
    function scaling(data) {
        var groups = {};
        function add(key, about, devices, rate) {
            groups[key] = groups[key] || {about: about, points: []};
            groups[key].points.push({devices: devices, rate: rate});
        }
        Object.entries(data.tables).forEach(function (pair) {
            pair[1].filter(per_second).forEach(function (row) {
                var about = {model: row.printed, pass: row.operation, machine: row.machine, precision: row.precision, of: row.framework,
                    batch: row.batch, how: row.conditions, command: 'deepbench table ' + pair[0]};
                add(JSON.stringify(about), about, row.devices, row.published);
            });
        });
        data.scaling.forEach(function (row) {
            var about = {model: row.model, pass: 'training_step', machine: row.machine, precision: row.precision, of: row.release,
                batch: row.batch, how: row.split ? 'tables split over the ranks' : '', command: 'deepbench scaling ' + row.model + ' --batch ' + row.batch +
                    (row.split ? ' --split' : '')};
            add(JSON.stringify(about), about, row.ranks, row.batch * row.ranks / row.step_seconds);
        });
        var rows = Object.values(groups).flatMap(function (group) {
            var points = group.points.sort(function (a, b) { return a.devices - b.devices; });
            var counts = d.distinct(points.map(function (point) { return point.devices; }));
            if (counts.length < 2 || counts.length < points.length) { return []; }
            return points.map(function (point) {
                return Object.assign({group: group, efficiency: point.rate / point.devices / (points[0].rate / points[0].devices)}, point);
            });
        });
        at('scaling-chart').hidden = !rows.length;
        if (!rows.length) {
            at('scaling').replaceChildren(el('p', {}, 'No scaling is stored yet. This command measures and stores it:'), d.command_block('deepbench scaling wide_deep --batch 1000 --save'));
            return;
        }
        var lines = d.distinct(rows.map(function (row) { return row.group; }));
        var names = distinct_labels(lines, function (group) {
            return [group.about.model, group.about.machine, group.about.how].filter(Boolean).join(', ');
        }, ['precision', 'pass', 'of', 'batch'].map(function (key) {
            return function (group) { return (key === 'batch' ? 'batch ' : '') + d.words(group.about[key] || 'not stated'); };
        }));
        d.chart(at('scaling-chart'), {
            name: 'scaling',
            title: 'Efficiency of training on several devices',
            sides: names.join('; '),
            described: 'Efficiency of training over the number of devices, as in the table below',
            build: function () {
                return {
                    traces: lines.map(function (group, place) {
                        var own = rows.filter(function (row) { return row.group === group; }), looks = d.looks(place);
                        return {type: 'scatter', mode: 'lines+markers', name: d.plain(names[place]),
                            x: own.map(function (row) { return row.devices; }), y: own.map(function (row) { return 100 * row.efficiency; }),
                            hovertemplate: '%{x} devices: %{y:.3g} %', line: {color: looks.colour, dash: looks.dash},
                            marker: {color: looks.colour, symbol: looks.symbol, size: 8}};
                    }),
                    layout: {xaxis: {type: 'log', title: 'devices or ranks', label: String, ticks: d.doubling_ticks},
                        yaxis: {title: 'efficiency', including: [0], label: function (value) { return d.digits(value, 3) + ' %'; }}}
                };
            }
        });
        d.table(at('scaling'), {
            name: 'scaling',
            title: 'Scaling',
            rows: rows,
            detail: function (row) { return d.command_block(row.group.about.command); },
            columns: [
                {title: 'model', value: function (row) { return row.group.about.model; }},
                {title: 'machine', value: function (row) { return row.group.about.machine; }},
                {title: 'precision', value: function (row) { return row.group.about.precision || 'not stated'; }},
                {title: 'pass', value: function (row) { return d.words(row.group.about.pass); }},
                {title: 'batch', number: true, value: function (row) { return row.group.about.batch; }},
                {title: 'with', head: 'framework', value: function (row) { return row.group.about.of; }},
                {title: 'how', head: 'conditions', long: true, value: function (row) { return row.group.about.how; }},
                {title: 'devices', number: true, value: function (row) { return row.devices; }},
                {title: 'items a second', head: 'items per second', unit: 'items/s', number: true, value: function (row) { return row.rate; }, text: function (value) { return d.digits(value, 4); }},
                {title: 'efficiency', unit: 'share', number: true, value: function (row) { return row.efficiency; },
                    text: function (value) { return d.percent(value); }}
            ]
        });
    }

    d.page(function () {
        return d.load('data/models').then(function (data) {
            d.offer(at('table'), Object.keys(data.tables).map(function (name) { return [name, data.sources[name].title]; }), 'stcp920',
                d.asked().get('table'));
            at('table').onchange = function () {
                d.remember({table: at('table').value});
                table(data, at('table').value);
            };
            table(data, at('table').value);
            latency(data);
            overhead(data);
            scaling(data);
        });
    });
})();
