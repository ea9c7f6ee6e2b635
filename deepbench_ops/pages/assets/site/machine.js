/* One machine: its profile, the roofline with every kernel, a table for each family. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };

    function facts(machine) {
        var told = Object.assign({}, machine.entry, machine.facts);
        ['machine', 'version'].forEach(function (key) { delete told[key]; });
        if (machine.surveyed) { told['profile of'] = machine.surveyed; }
        if (!machine.peaks.length) { told.profile = 'none: without peaks there is no roofline'; }
        at('facts').replaceChildren.apply(at('facts'), Object.entries(told).filter(function (pair) { return pair[1]; })
            .flatMap(function (pair) { return [el('dt', {}, d.words(pair[0])), el('dd', {}, String(pair[1]))]; }));
        d.table(at('peaks'), {
            name: 'peaks-' + machine.name,
            title: 'Peaks',
            rows: machine.peaks,
            taken: [{title: 'unit', value: function (row) { return row.unit; }}, d.same('machine', machine.name)],
            detail: function (row) {
                return row.how.startsWith('data sheet') ? el('p', {}, row.how) : d.told_command('deepbench machine');
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

    /* The fingerprint of a framework's newest release, and what was new under each. */
    function measured_under(catalogue, stack, framework) {
        var told = at('conditions-told'), facts = stack && stack.facts;
        told.hidden = !facts;
        if (!facts) { return; }
        told.querySelector('summary').textContent = 'What ' + (facts.framework || framework) + ' was measured under';
        told.querySelector('dl').replaceChildren.apply(told.querySelector('dl'), Object.entries(facts)
            .filter(function (pair) { return pair[1] !== ''; })
            .flatMap(function (pair) { return [el('dt', {}, d.words(pair[0])), el('dd', {}, pair[1])]; }));
        d.table(told.querySelector('div'), {
            name: 'new-under-' + framework + '-' + at('machine').value,
            title: 'What was new under each release',
            rows: stack['new'].slice().reverse(),
            columns: [
                {title: 'release', value: function (row) { return catalogue.releases[row[0]].name; }},
                {title: 'day', value: function (row) { return catalogue.releases[row[0]].date; }},
                {title: 'new under it', long: true, value: function (row) { return row[1]; }}
            ]
        });
    }

    /* Why nothing is drawn, above tables that may well hold rates. */
    function without_roofline(lines, precision) {
        return !lines.length ? 'Nothing was measured here.' : lines.some(function (line) { return line.flops; })
            ? 'No roofline: how many bytes a kernel moves is not known at ' + precision + '; its FLOP/s stand in the tables.'
            : 'No roofline: what was measured here only moves data; its bytes a second stand in the tables.';
    }

    /* How many kernels lie above the roof, by what may have brought them there. */
    function above(lines, peak, bandwidth) {
        var over_peak = lines.map(function (line) { return d.rate(line, d.last(line)) / peak; })
            .filter(function (share) { return share > 1; });
        var over_slope = lines.filter(function (line) {
            var rate = d.rate(line, d.last(line));
            return rate <= peak && rate > bandwidth * line.flops / line.bytes;
        });
        return (over_peak.length ? over_peak.length + ' above the peak, up to ' + d.digits(Math.max.apply(null, over_peak), 3) +
            ' times: convolutions by Winograd or FFT are credited with the FLOPs of the direct way, and a measured peak is ' +
            'what one product reached. ' : '') +
            (over_slope.length ? over_slope.length + ' above the bandwidth\u2019s slope alone: bytes are those that cannot be ' +
            'avoided, and operands stayed in a cache. ' : '');
    }

    function roofline(machine, lines, precision) {
        var device = lines.length ? lines[0].device || 'cpu' : 'cpu';
        function peak_of(name) {
            var found = machine.peaks.find(function (peak) { return peak.of === name && peak.device === device; });
            return found && found.value;
        }
        // As problems/precision.py has it: these operands are multiplied in 16 bits.
        var multiplied = precision === 'float32_mixed' ? 'float16' : precision;
        var peak = peak_of(multiplied), bandwidth = peak_of('memory');
        var drawable = lines.filter(function (line) { return line.flops && line.bytes; });
        at('roofline-told').textContent = !drawable.length ? without_roofline(lines, precision) : peak && bandwidth
            ? d.counted(drawable.length, 'kernel') + ' under ' + d.scaled(peak, 'FLOP/s') + ' and ' + d.scaled(bandwidth, 'B/s') + '. ' +
                above(drawable, peak, bandwidth) + 'Click a point for its timeline.'
            : d.counted(drawable.length, 'kernel') + '; no roof: the profile has no ' + [peak ? '' : 'peak for ' + multiplied,
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
            described: 'Roofline of ' + machine.name + ' at ' + precision + ': FLOP/s of every kernel against its FLOPs a byte, as in the tables below',
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
                    xaxis: {type: 'log', title: 'FLOP/byte', told: function (value) { return d.digits(value, 3); }},
                    yaxis: {type: 'log', title: 'rate', told: function (value) { return d.scaled(value, 'FLOP/s'); }}
                }};
            }
        });
    }

    function hover(line) {
        var place = d.last(line);
        var interval = d.told_interval(line, place);
        return [
            '<b>' + d.plain(d.kernel_name(line)) + '</b>',
            d.plain(d.words(line.set) + ', ' + d.words(line.operation) + (line.problem.application ? ', ' + line.problem.application : '')),
            d.seconds(line.seconds[place]) + (interval ? ' (' + interval + ')' : ''),
            d.told_rate(line, place) + ', ' + d.scaled(d.bandwidth(line, place), 'B/s'),
            line.roof ? d.percent(d.of_roof(line, place)) + ' of the roof' : 'no roof known',
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
        if (!machines.length) { return d.instead('No machine has results yet.'); }
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
                var lines = found.flat().filter(function (line) { return !line.beside; });
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
                    measured_under(catalogue, stacks[at('framework').value], at('framework').value);
                    roofline(machine(), own, at('precision').value);
                    tables(own);
                }

                at('framework').onchange = function () { wanted = new URLSearchParams(); framework_chosen(); };
                at('precision').onchange = at('conditions').onchange = shown;
                at('machine').onchange = function () { return machine_chosen(new URLSearchParams()); };
            });
        }
    });
})();
