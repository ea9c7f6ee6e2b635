/* One machine: its profile, the roofline with every kernel, and a table for each family. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };

    /* Name and value of a fact as elements; bytes with a unit. */
    function fact(pair) {
        var bytes = /^(.*)_bytes$/.exec(pair[0]), size = bytes && d.scaled(Number(pair[1]), 'B');
        return [el('dt', {}, d.words(size ? bytes[1] : pair[0])), el('dd', {}, size || String(pair[1]))];
    }

    function facts(machine) {
        var shown = Object.assign({}, machine.entry, machine.facts);
        ['machine', 'version'].forEach(function (key) { delete shown[key]; });
        if (machine.surveyed) { shown['profile measured on'] = machine.surveyed; }
        if (!machine.peaks.length) { shown.profile = 'none, so there is no roofline'; }
        at('facts').replaceChildren.apply(at('facts'), Object.entries(shown).filter(function (pair) { return pair[1]; })
            .flatMap(fact));
        d.table(at('peaks'), {
            name: 'peaks-' + machine.name,
            title: 'Peaks',
            rows: machine.peaks,
            taken: [{title: 'unit', value: function (row) { return row.unit; }}, d.same('machine', machine.name)],
            detail: function (row) {
                return row.how.startsWith('data sheet') ? el('p', {}, row.how) : d.command_block('deepbench machine');
            },
            columns: [
                {title: 'precision', value: function (row) { return row.of; }},
                {title: 'device', value: function (row) { return row.device; }},
                {title: 'peak', number: true, value: function (row) { return row.value; },
                    text: function (value, row) { return d.scaled(value, row.unit === 'FLOP/s' ? 'FLOP/s' : 'B/s'); }},
                {title: 'source', long: true, value: function (row) { return row.how; }}
            ]
        });
    }

    /* Software and settings under a framework's newest release, and what changed with each release. */
    function software(catalogue, stack, framework) {
        var place = at('software'), facts = stack && stack.facts;
        place.hidden = !facts;
        if (!facts) { return; }
        place.querySelector('summary').textContent = 'Software and settings under ' + (facts.framework || framework);
        place.querySelector('dl').replaceChildren.apply(place.querySelector('dl'), Object.entries(facts)
            .filter(function (pair) { return pair[1] !== ''; })
            .flatMap(fact));
        d.table(place.querySelector('div'), {
            name: 'new-under-' + framework + '-' + at('machine').value,
            title: 'New software with each release',
            rows: stack['new'].slice().reverse(),
            columns: [
                {title: 'release', value: function (row) { return catalogue.releases[row[0]].name; }},
                {title: 'day', value: function (row) { return catalogue.releases[row[0]].date; }},
                {title: 'new under it', head: 'new with it', long: true, value: function (row) { return row[1]; }}
            ]
        });
    }

    /* Why there is no roofline; the tables below may still have rates. */
    function without_roofline(lines, precision) {
        return !lines.length ? 'No kernel was measured here.' : lines.some(function (line) { return line.flops; })
            ? 'No roofline: the bytes that a kernel moves are not known at ' + precision + '. The tables show its FLOP/s.'
            : 'No roofline: these kernels only move data. The tables show their bytes per second.';
    }

    /* The number of kernels above the roof, with the possible reasons. */
    function above(lines, peak, bandwidth) {
        var over_peak = lines.map(function (line) { return d.rate(line, d.last(line)) / peak; })
            .filter(function (share) { return share > 1; });
        var over_slope = lines.filter(function (line) {
            var rate = d.rate(line, d.last(line));
            return rate <= peak && rate > bandwidth * line.flops / line.bytes;
        });
        return (over_peak.length ? above_what(over_peak.length, 'the peak') + ', at most ' + d.digits(Math.max.apply(null, over_peak), 3) +
            ' times the peak: convolutions by Winograd or FFT need fewer operations than are counted, and the peak was ' +
            'measured with one product, which may not be the fastest. ' : '') +
            (over_slope.length ? above_what(over_slope.length, 'the line of the memory bandwidth') +
            ': their operands stayed in a cache. ' : '');
    }

    function above_what(count, what) {
        return d.counted(count, 'kernel') + (count === 1 ? ' is above ' : ' are above ') + what;
    }

    function roofline(catalogue, machine, lines, precision) {
        var device = d.device(lines[0] || {});
        function peak_of(name) {
            var found = machine.peaks.find(function (peak) { return peak.of === name && peak.device === device; });
            return found && found.value;
        }
        var multiplied = catalogue.multiplied[precision] || precision;
        var peak = peak_of(multiplied), bandwidth = peak_of('memory');
        var drawable = lines.filter(function (line) { return line.flops && line.bytes; });
        at('roofline-summary').textContent = !drawable.length ? without_roofline(lines, precision) : peak && bandwidth
            ? d.counted(drawable.length, 'kernel') + '. The peak is ' + d.scaled(peak, 'FLOP/s') + ', the memory bandwidth ' +
                d.scaled(bandwidth, 'B/s') + '. ' + above(drawable, peak, bandwidth) + 'Click a point to open its timeline.'
            : d.counted(drawable.length, 'kernel') + ', no roof: the profile has no ' + [peak ? '' : 'peak for ' + multiplied,
                bandwidth ? '' : 'memory bandwidth'].filter(Boolean).join(' and no ') + ' on ' + device + '.';
        at('roofline').hidden = !drawable.length;
        if (!drawable.length) { return; }
        var families = d.distinct(drawable.map(function (line) { return line.family; }));
        var intensities = drawable.map(function (line) { return line.flops / line.bytes; });
        var ends = [Math.min.apply(null, intensities) / 2, Math.max.apply(null, intensities) * 2];
        d.chart(at('roofline'), {
            name: 'roofline-' + machine.name + '-' + precision,
            title: 'Roofline of ' + machine.name + ', ' + precision,
            sides: [drawable[0].framework, d.conditions(drawable[0])].filter(Boolean).join(', ') + ': ' + families.map(d.words).join(', '),
            described: 'Roofline of ' + machine.name + ' at ' + precision + ': FLOP/s of every kernel over its FLOPs per byte, as in the tables below',
            clicked: function (point) {
                if (point.customdata) { location.href = point.customdata; }
            },
            build: function () {
                var traces = families.map(function (family, place) {
                    var own = drawable.filter(function (line) { return line.family === family; });
                    var looks = d.looks(place);
                    return {
                        type: 'scatter', mode: 'markers', name: d.words(family),
                        x: own.map(function (line) { return line.flops / line.bytes; }),
                        y: own.map(function (line) { return d.rate(line, d.last(line)); }),
                        customdata: own.map(d.timeline_address),
                        text: own.map(hover),
                        hovertemplate: '%{text}<extra></extra>',
                        marker: {color: d.faded(looks.colour, 0.65), symbol: looks.symbol, size: 8,
                            line: {width: 1, color: looks.colour}}
                    };
                });
                if (peak && bandwidth) {
                    var ridge = peak / bandwidth;
                    var x = [Math.min(ends[0], ridge / 2), ridge, Math.max(ends[1], ridge * 2)];
                    traces.push({type: 'scatter', mode: 'lines', name: 'roof', x: x,
                        y: x.map(function (i) { return Math.min(peak, bandwidth * i); }), hoverinfo: 'skip',
                        line: {color: d.colour('text'), width: 2}});
                }
                return {traces: traces, layout: {
                    xaxis: {type: 'log', title: 'FLOPs per byte', label: function (value) { return d.digits(value, 3); }},
                    yaxis: {type: 'log', title: 'FLOP/s', label: function (value) { return d.scaled(value, 'FLOP/s'); }}
                }};
            }
        });
    }

    function hover(line) {
        var place = d.last(line);
        var interval = d.interval_text(line, place);
        return [
            '<b>' + d.plain(d.kernel_name(line)) + '</b>',
            d.plain((line.problem.title ? line.problem.title + ', ' : '') + d.words(line.set) + ', ' + d.words(line.operation) + (line.problem.application ? ', ' + line.problem.application : '')),
            d.seconds(line.seconds[place]) + (interval ? ' (' + interval + ')' : ''),
            d.rate_text(line, place) + ', ' + d.scaled(d.bandwidth(line, place), 'B/s'),
            line.roof ? d.percent(d.of_roof(line, place)) + ' of the roof' : 'roof not known',
            d.plain(line.releases[place].name)
        ].join('<br>');
    }

    function tables(lines) {
        var families = d.distinct(lines.map(function (line) { return line.family; }));
        at('tables').replaceChildren.apply(at('tables'), families.flatMap(function (family) {
            var place = el('div');
            d.kernel_table(place, family, lines.filter(function (line) { return line.family === family; }));
            return [el('h2', {}, d.words(family)), place];
        }));
    }

    d.page(function (catalogue) {
        var wanted = d.asked();
        var machines = catalogue.machines.filter(function (machine) { return Object.keys(machine.families).length; });
        if (!machines.length) { return d.instead('No machine has results yet. Measure some with "asv run", then run "asv publish" again.'); }
        d.offer(at('machine'), catalogue.machines.map(function (machine) { return [machine.name, machine.name]; }),
            d.first_machine(catalogue).name, wanted.get('machine'));
        return machine_chosen(wanted);

        function machine() {
            return catalogue.machines.find(function (each) { return each.name === at('machine').value; });
        }

        function machine_chosen(wanted) {
            facts(machine());
            var asked = [d.load('data/stacks/' + machine().key)].concat(Object.keys(machine().families).map(function (family) {
                return d.lines(catalogue, machine(), family);
            }));
            return d.answer(Promise.all(asked), function (found) {
                var stacks = found.shift();
                var lines = found.flat().filter(function (line) { return !line.uncompared; });
                var counts = {};
                lines.forEach(function (line) { counts[line.framework] = (counts[line.framework] || 0) + 1; });
                var largest = Object.keys(counts).sort(function (a, b) { return counts[b] - counts[a]; });
                d.offer(at('framework'), largest, largest[0], wanted.get('framework'));
                framework_chosen();

                function framework_chosen() {
                    var own = lines.filter(function (line) { return line.framework === at('framework').value; });
                    var precisions = d.distinct(own.map(function (line) { return line.precision; })).sort();
                    d.offer(at('precision'), precisions, 'float32', wanted.get('precision'));
                    d.offer(at('conditions'), d.distinct(own.map(d.conditions)).sort().map(function (text) {
                        return [text, text || 'usual'];
                    }), '', wanted.get('conditions'));
                    shown();
                }

                function shown() {
                    var own = lines.filter(function (line) {
                        return line.framework === at('framework').value && line.precision === at('precision').value &&
                            d.conditions(line) === at('conditions').value;
                    });
                    d.remember({machine: machine().name, framework: at('framework').value,
                        precision: at('precision').value, conditions: at('conditions').value});
                    software(catalogue, stacks[at('framework').value], at('framework').value);
                    roofline(catalogue, machine(), own, at('precision').value);
                    tables(own);
                }

                at('framework').onchange = function () { wanted = new URLSearchParams(); framework_chosen(); };
                at('precision').onchange = at('conditions').onchange = shown;
                at('machine').onchange = function () { return machine_chosen(new URLSearchParams()); };
            });
        }
    });
})();
