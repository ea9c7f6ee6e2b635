/* Machines or releases compared: ratios by family, wins and losses of kernels, problems over releases. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };
    var MOST = 5;
    var LEAST = Math.log2(1.1);  /* least range of the axis of ratios to both sides */

    /* A side from `machine@release`, or `machine@framework` for the newest release of each kernel; the last @ counts. */
    function parsed(spec) {
        var cut = spec.lastIndexOf('@');
        return cut < 0 ? {machine: spec, of: ''} : {machine: spec.slice(0, cut), of: spec.slice(cut + 1)};
    }

    function name(side) {
        return side.machine + '@' + side.of;
    }

    function devices(lines) {
        return d.distinct(lines.map(function (line) { return d.device(line); })).sort();
    }

    /* The newest time of each kernel of a side: {line, i}. `device` is used where a machine has several. */
    function times(lines, of, device) {
        var found = new Map(), several = devices(lines).length > 1;
        lines.forEach(function (line) {
            if (line.uncompared || several && d.device(line) !== device) { return; }
            line.releases.forEach(function (release, i) {
                if (of !== release.framework && of !== release.name) { return; }
                var key = d.kernel(line), known = found.get(key);
                if (!known || known.line.releases[known.i].date <= release.date) { found.set(key, {line: line, i: i}); }
            });
        });
        return found;
    }

    function seconds(time) {
        return time.line.seconds[time.i];
    }

    /* The geometric mean of ratios, with Student's interval over their logarithms. */
    function mean(ratios, student) {
        var logs = ratios.map(Math.log), n = logs.length;
        var middle = logs.reduce(function (a, b) { return a + b; }, 0) / n;
        if (n < 2) { return {ratio: Math.exp(middle), low: null, high: null}; }
        var squares = logs.reduce(function (sum, log) { return sum + Math.pow(log - middle, 2); }, 0);
        var reach = student[Math.min(n - 1, student.length) - 1] * Math.sqrt(squares / (n - 1) / n);
        return {ratio: Math.exp(middle), low: Math.exp(middle - reach), high: Math.exp(middle + reach)};
    }

    function changes(first, other) {
        var found = [];
        first.times.forEach(function (time, key) {
            var against = other.times.get(key);
            if (against) { found.push({first: time, other: against, ratio: seconds(against) / seconds(time)}); }
        });
        return found.sort(function (a, b) { return a.ratio - b.ratio; });
    }

    /* Keys of family and precision, families in the catalogue's order. */
    function keys_in_order(catalogue, by) {
        function place(key) { return catalogue.families.indexOf(key.split('\n')[0]); }
        return Object.keys(by).sort().sort(function (a, b) { return place(a) - place(b); });
    }

    function groups(catalogue, sides) {
        var rows = [];
        sides.slice(1).forEach(function (other) {
            var by = {};
            changes(sides[0], other).forEach(function (change) {
                var key = change.first.line.family + '\n' + change.first.line.precision;
                (by[key] = by[key] || []).push(change.ratio);
            });
            keys_in_order(catalogue, by).forEach(function (key) {
                var family = key.split('\n')[0], precision = key.split('\n')[1];
                rows.push(Object.assign({other: other, family: family, precision: precision, shared: by[key].length,
                    first_has: count(sides[0], family, precision), other_has: count(other, family, precision)},
                    mean(by[key], catalogue.student)));
            });
        });
        d.table(at('groups'), {
            name: ['compare'].concat(sides.map(name)).join('-'),
            title: 'By family',
            rows: rows,
            detail: function (row) {
                return d.command_block('deepbench compare ' + sides.concat().filter(function (side) {
                    return side === sides[0] || side === row.other;
                }).map(function (side) { return d.quoted(name(side)); }).join(' ') +
                    (at('device').value ? ' --device ' + at('device').value : ''));
            },
            taken: [{title: '95 % interval: high', unit: 'ratio', number: true, value: function (row) { return row.high; }},
                d.same('first', name(sides[0]))].concat(at('device').value ? [d.same('device', at('device').value)] : []),
            columns: [
                {title: 'family', value: function (row) { return d.words(row.family); }},
                {title: 'precision', value: function (row) { return row.precision; }},
                {title: 'other', value: function (row) { return name(row.other); }},
                {title: 'other / first', head: 'other compared with first', unit: 'ratio', number: true, value: function (row) { return row.ratio; }, text: d.times},
                {title: '95 % interval: low', head: '95 % interval', unit: 'ratio', number: true, value: function (row) { return row.low; },
                    text: function (low, row) { return d.ratio_interval(low, row.high); }},
                {title: 'faster', value: function (row) {
                    if (row.low === null || (row.low <= 1 && row.high >= 1)) { return 'no clear difference'; }
                    return name(row.ratio < 1 ? row.other : sides[0]);
                }},
                {title: 'kernels of both', number: true, value: function (row) { return row.shared; }},
                {title: 'kernels of first', number: true, value: function (row) { return row.first_has; }},
                {title: 'kernels of other', number: true, value: function (row) { return row.other_has; }}
            ]
        });
        return rows;
    }

    function count(side, family, precision) {
        var found = 0;
        side.times.forEach(function (time) { found += time.line.family === family && time.line.precision === precision; });
        return found;
    }

    function hover(change) {
        var line = change.first.line;
        return '<b>' + d.plain(d.kernel_name(line)) + '</b><br>' + d.plain(d.words(line.set) + ', ' + d.words(line.operation)) + '<br>' +
            d.seconds(seconds(change.first)) + ' and ' + d.seconds(seconds(change.other)) + ': ' + d.times(change.ratio);
    }

    function kernels(first, other, family, precision) {
        var own = changes(first, other).filter(function (change) {
            return change.first.line.family === family && change.first.line.precision === precision;
        });
        var of = [family, precision, name(first), name(other)].join('-');
        var sides = name(other) + ' compared with ' + name(first);
        at('shared').hidden = !own.length;
        if (!own.length) { return; }
        d.chart(at('bars'), {
            name: 'wins-' + of,
            title: 'Wins and losses, ' + d.words(family) + ', ' + precision,
            sides: sides,
            described: 'Time of each kernel on ' + name(other) + ' relative to ' + name(first) +
                ', from the largest gain to the largest loss, as in the table below',
            build: function () {
                var kinds = [['faster', name(other) + ' is faster', 'c0', ''], ['slower', name(first) + ' is faster', 'c1', '/']];
                var bars = kinds.map(function (kind) {
                    return Object.assign(some(kind[0], kind[1]), {type: 'bar', textposition: 'none',
                        marker: {color: d.colour(kind[2]), pattern: {shape: kind[3], fillmode: 'overlay', fgcolor: d.colour('page')}}});
                });
                var equal = Object.assign(some('', 'no difference'), {type: 'scatter', mode: 'markers',
                    marker: {color: d.colour('text'), symbol: 'diamond', size: 9}});
                function some(verdict, legend) {
                    var pairs = own.map(function (change, i) { return [change, i]; })
                        .filter(function (pair) { return d.direction(pair[0].ratio) === verdict; });
                    return {name: d.plain(legend), x: pairs.map(function (pair) { return pair[1] + 1; }),
                        y: pairs.map(function (pair) { return Math.log2(pair[0].ratio); }),
                        text: pairs.map(function (pair) { return hover(pair[0]); }), hovertemplate: '%{text}<extra></extra>'};
                }
                return {
                    traces: bars.concat(equal.x.length ? [equal] : []),
                    layout: {bargap: 0.1, showlegend: true,
                        xaxis: {title: 'kernels, by ratio', zeroline: false, including: [0.5, own.length + 0.5], label: String, ticks: whole},
                        yaxis: {title: d.plain(name(other)), including: [-LEAST, LEAST], ticks: logarithms,
                            label: function (log) { return log ? d.times(Math.pow(2, log)) : 'equal'; }}}
                };
            }
        });
        d.chart(at('scatter'), {
            name: 'scatter-' + of,
            title: 'Times of both sides, ' + d.words(family) + ', ' + precision,
            sides: sides,
            described: 'Time of each kernel on ' + name(first) + ' (x) and on ' + name(other) + ' (y), as in the table below',
            build: function () {
                var all = own.flatMap(function (change) { return [seconds(change.first), seconds(change.other)]; });
                var ends = [Math.min.apply(null, all), Math.max.apply(null, all)];
                return {
                    traces: [
                        {type: 'scatter', mode: 'markers', name: 'kernels', x: own.map(function (c) { return seconds(c.first); }),
                            y: own.map(function (c) { return seconds(c.other); }), text: own.map(hover),
                            hovertemplate: '%{text}<extra></extra>', marker: {color: d.faded(d.colour('c0'), 0.6), size: 8,
                                line: {width: 1, color: d.colour('c0')}}},
                        {type: 'scatter', mode: 'lines', name: 'equal times', x: ends, y: ends, hoverinfo: 'skip',
                            line: {color: d.colour('quiet'), dash: 'dash'}}
                    ],
                    layout: {xaxis: {type: 'log', title: d.plain(name(first)), label: d.seconds},
                        yaxis: {type: 'log', title: d.plain(name(other)), label: d.seconds}}
                };
            }
        });
        d.table(at('kernels'), {
            name: 'kernels-' + of,
            title: 'Kernels that both have',
            rows: own,
            taken: [d.same('family', d.words(family)), d.same('precision', precision),
                {title: 'devices', value: function (change) {
                    return d.distinct([d.device(change.first.line), d.device(change.other.line)]).join(' and ');
                }}],
            detail: function (change) {
                return el('div', {}, d.detail(change.first.line, change.first.i), d.detail(change.other.line, change.other.i));
            },
            columns: [
                {title: 'problem', value: function (change) { return d.kernel_name(change.first.line); }},
                {title: 'set', value: function (change) { return d.words(change.first.line.set); }},
                {title: 'pass', value: function (change) { return d.words(change.first.line.operation); }},
                {title: name(first), unit: 'seconds', number: true, value: function (change) { return seconds(change.first); }, text: d.seconds},
                {title: name(other), unit: 'seconds', number: true, value: function (change) { return seconds(change.other); }, text: d.seconds},
                {title: 'other / first', head: 'other compared with first', unit: 'ratio', number: true, value: function (change) { return change.ratio; }, text: d.times},
                {title: name(first) + ', of its roof', head: name(first) + ': share of roof', unit: 'share', number: true, value: function (change) { return d.of_roof(change.first.line, change.first.i); },
                    text: function (value) { return d.percent(value); }},
                {title: name(other) + ', of its roof', head: name(other) + ': share of roof', unit: 'share', number: true, value: function (change) { return d.of_roof(change.other.line, change.other.i); },
                    text: function (value) { return d.percent(value); }}
            ]
        });
    }

    /* Labels of an axis of logarithms to base 2, at round ratios. */
    function logarithms(low, high, most) {
        return d.ratio_ticks(Math.pow(2, low), Math.pow(2, high), most).map(Math.log2);
    }

    /* Labels of an axis that counts kernels. */
    function whole(low, high, most) {
        return d.linear_ticks(Math.max(low, 1), Math.max(high, 2), most).filter(Number.isInteger);
    }

    /* Which sides share no kernel with the first, in words; '' where all do. */
    function apart(sides, family, precision) {
        function kernels_of(side) { return name(side) + ' has ' + d.counted(count(side, family, precision), 'kernel'); }
        return sides.slice(1).filter(function (other) {
            return !changes(sides[0], other).some(function (change) {
                return change.first.line.family === family && change.first.line.precision === precision;
            });
        }).map(function (other) {
            return 'These sides share no kernel of ' + d.words(family) + ' at ' + precision + ': ' + kernels_of(sides[0]) + ', ' + kernels_of(other) + '.';
        }).join(' ');
    }

    function heat(catalogue, machine, lines, family, precision, asked) {
        var some = lines.filter(function (line) {
            return line.family === family && line.precision === precision && line.releases.length > 1;
        });
        d.offer(at('heat-framework'), d.distinct(some.map(function (line) { return line.framework; })), null, asked.get('framework'));
        some = some.filter(function (line) { return line.framework === at('heat-framework').value; });
        d.offer(at('heat-operation'), d.distinct(some.map(function (line) { return line.operation; })), null, asked.get('operation'));
        some = some.filter(function (line) { return line.operation === at('heat-operation').value; });
        at('heat').hidden = at('heat-choices').hidden = !some.length;
        at('heat-summary').textContent = some.length ? '' : 'On ' + machine + ' no problem of ' + d.words(family) + ' at ' + precision +
            ' was measured at two releases or more.';
        if (!some.length) { return; }
        var places = d.distinct(some.flatMap(function (line) { return line.at; })).sort(function (a, b) { return a - b; });
        var labels = some.map(function (line) { return [d.kernel_name(line), d.words(line.set), line.device].filter(Boolean).join(', '); });
        d.chart(at('heat'), {
            name: ['releases', family, precision, machine, at('heat-framework').value, at('heat-operation').value].join('-'),
            room: {width: 6 * longest(labels) + 22 * places.length + 190, height: 14 * some.length + 90},
            title: 'Problems and releases, ' + [d.words(family), d.words(at('heat-operation').value), precision].join(', '),
            sides: at('heat-framework').value + ' on ' + machine + ', relative to the first release',
            described: 'Time of each problem at each release relative to its first; the timeline page has the numbers',
            build: function () {
                var z = some.map(function (line) {
                    return places.map(function (place) {
                        var i = line.at.indexOf(place);
                        return i < 0 ? null : Math.log2(line.seconds[i] / line.seconds[0]);
                    });
                });
                var reach = Math.max(0.2, Math.max.apply(null, z.flat().map(function (v) { return Math.abs(v || 0); })));
                reach = Math.min(reach, 2);
                return {
                    traces: [{type: 'heatmap', z: z, x: places.map(function (p) { return d.plain(catalogue.releases[p].version); }),
                        y: labels.map(d.plain),
                        text: some.map(function (line) {
                            return places.map(function (place) {
                                var i = line.at.indexOf(place);
                                return i < 0 ? 'not measured' : d.seconds(line.seconds[i]) + ', ' + d.times_than(line.seconds[i] / line.seconds[0], 'the first release');
                            });
                        }),
                        hovertemplate: '%{y}<br>%{x}: %{text}<extra></extra>', xgap: 1, ygap: 1, zmin: -reach, zmax: reach,
                        colorscale: [[0, d.colour('c0')], [0.5, d.colour('panel')], [1, d.colour('c1')]],
                        colorbar: {thickness: 12, tickvals: [-reach, 0, reach],
                            ticktext: [-reach, 0, reach].map(function (log) { return log ? d.times(Math.pow(2, log)) : 'equal'; })}}],
                    layout: {xaxis: {type: 'category'}, yaxis: {type: 'category', tickfont: {size: 10}}}
                };
            }
        });
    }

    function longest(texts) {
        return Math.max.apply(null, texts.map(function (text) { return text.length; }));
    }

    d.page(function (catalogue) {
        var machines = catalogue.machines.filter(function (machine) { return Object.keys(machine.families).length; });
        if (!machines.length) { return d.instead('No machine has results yet. Measure some with "asv run", then run "asv publish" again.'); }
        var asked = d.asked(), wanted = asked.getAll('side').map(parsed).filter(known);
        while (wanted.length < 2) { wanted.push(unused(wanted)); }

        function known(side) {
            var there = machines.some(function (machine) { return machine.name === side.machine; });
            if (!there) { d.not_here('machine', side.machine); }
            return there;
        }

        /* A side that is not compared yet: another framework of the first machine, else another machine. */
        function unused(sides) {
            var first = d.first_machine(catalogue);
            var all = [first].concat(machines.filter(function (machine) { return machine !== first; }))
                .flatMap(function (machine) {
                    return machine.frameworks.map(function (framework) { return {machine: machine.name, of: framework}; });
                });
            var taken = sides.map(name);
            return all.find(function (side) { return !taken.includes(name(side)); }) || all[0];
        }

        function controls() {
            at('sides').replaceChildren.apply(at('sides'), wanted.flatMap(function (side, place) {
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
                var parts = [el('label', {}, which + ' machine ', machine), el('label', {}, which + ' release ', of)];
                choices(side.of);
                machine.addEventListener('change', function () { choices(); chosen(); });
                of.addEventListener('change', chosen);
                function chosen() { wanted[place] = {machine: machine.value, of: of.value}; draw(); }
                side.of = of.value;
                if (place > 1) {
                    parts.push(el('button', {type: 'button', click: function () {
                        wanted.splice(place, 1);
                        controls();
                        at('add').focus();
                        draw();
                    }}, 'Remove ' + place));
                }
                return parts;
            }));
            at('add').hidden = wanted.length >= MOST;
        }
        at('add').onclick = function () { wanted.push(unused(wanted)); controls(); draw(); };
        controls();
        return draw();

        function draw() {
            return d.answer(Promise.all(wanted.map(function (side) {
                var machine = machines.find(function (each) { return each.name === side.machine; });
                return Promise.all(Object.keys(machine.families).map(function (family) {
                    return d.lines(catalogue, machine, family);
                })).then(function (found) {
                    return {machine: side.machine, of: side.of, lines: found.flat()};
                });
            })), function (sides) {
                var several = sides.map(function (side) { return devices(side.lines); }).filter(function (some) { return some.length > 1; });
                at('device').parentNode.hidden = !several.length;
                d.offer(at('device'), d.distinct(several.flat()).sort(), d.device({}), asked.get('device'));
                sides.forEach(function (side) { side.times = times(side.lines, side.of, at('device').value); });
                var rows = groups(catalogue, sides);
                /* Where sides share no kernel, the choices are those of the first side's lines. */
                var choices = rows.length ? rows : sides[0].lines;
                at('by-family').hidden = !rows.length;
                d.offer(at('family'), d.distinct(choices.map(function (row) { return row.family; })), null, asked.get('family'));
                d.offer(at('other'), sides.slice(1).map(function (side, i) { return [String(i + 1), name(side)]; }), null, asked.get('other'));
                family_chosen();

                function family_chosen() {
                    d.offer(at('precision'), d.distinct(choices.filter(function (row) { return row.family === at('family').value; })
                        .map(function (row) { return row.precision; })).sort(), 'float32', asked.get('precision'));
                    shown();
                }
                function shown() {
                    at('apart').textContent = apart(sides, at('family').value, at('precision').value);
                    kernels(sides[0], sides[Number(at('other').value)], at('family').value, at('precision').value);
                    heated();
                }
                function heated() {
                    heat(catalogue, sides[0].machine, sides[0].lines, at('family').value, at('precision').value, asked);
                    asked = new URLSearchParams();
                    d.remember({side: wanted.map(name), family: at('family').value, precision: at('precision').value,
                        other: at('other').value, device: at('device').value, framework: at('heat-framework').value, operation: at('heat-operation').value});
                }
                at('device').onchange = draw;
                at('family').onchange = family_chosen;
                at('precision').onchange = at('other').onchange = shown;
                at('heat-framework').onchange = at('heat-operation').onchange = heated;
            });
        }
    });
})();
