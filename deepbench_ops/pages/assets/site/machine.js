/* One machine: the roofline with every kernel, the share of the roof and the past of each family, all kernels, and its profile. A second
   machine can be drawn on top. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };
    var NONE = new URLSearchParams();
    var MULTIPLES = 6;

    /* PEAKS */

    /* The peak at a precision and the bandwidth of the device that lines ran on, each null where it is not known, and whether other
       programs ran while they were measured. */
    function figures(machine, lines, multiplied) {
        var device = lines.length ? d.device(lines[0]) : null;
        function figure_of(name) {
            return machine.peaks.find(function (peak) { return peak.of === name && (device === null || peak.device === device); }) || {value: null};
        }
        var peak = figure_of(multiplied), memory = figure_of('memory');
        return {peak: peak.value, bandwidth: memory.value, device: device, disturbed_peak: Boolean(peak.disturbed), disturbed: Boolean(peak.disturbed || memory.disturbed)};
    }

    function title(machine, figure, precision) {
        var known = [figure.peak ? d.scaled(figure.peak, 'FLOP/s') + ' at ' + d.words(precision) : '', figure.bandwidth ? d.scaled(figure.bandwidth, 'B/s') : '',
            figure.disturbed ? 'measured next to other load' : ''].filter(Boolean);
        document.querySelector('h1').replaceChildren(machine.name, ' ', d.unsigned_mark(machine), ' ', el('small', {}, [d.processor(machine)].concat(known.length ? known : 'peaks not known').join(', ')));
        document.title = document.title.split(':')[0] + ': ' + machine.name;
    }

    /* ROOFLINE */

    /* Why there is no picture; the table may still have rates. */
    function without_roofline(lines, precision) {
        return !lines.length ? 'No kernel was measured here.' : lines.some(function (line) { return line.flops; })
            ? 'No roofline: the bytes that a kernel moves are not known at ' + d.words(precision) + '. The table has its FLOP/s.'
            : 'No roofline: these kernels only move data. The table has their bytes per second.';
    }

    /* The number of kernels above the roof by their newest steady times, with the possible reasons. */
    function above(all, figure, families) {
        var lines = all.filter(function (line) { return d.last_steady(line) >= 0; });
        function rate_of(line) { return d.rate(line, d.last_steady(line)); }
        var over_peak = lines.filter(function (line) { return rate_of(line) > figure.peak; });
        var over_slope = lines.filter(function (line) {
            var rate = rate_of(line);
            return rate <= figure.peak && rate > figure.bandwidth * line.flops / line.bytes;
        });
        var shares = over_peak.map(function (line) { return rate_of(line) / figure.peak; });
        return (over_peak.length ? above_what(over_peak.length, 'the peak') + ', at most ' + d.digits(Math.max.apply(null, shares), 3) +
            ' times the peak: ' + above_peak(over_peak, figure, families) : '') +
            (over_slope.length ? above_what(over_slope.length, 'the line of the memory bandwidth') +
            (over_slope.length === 1 ? ': its' : ': their') + ' operands stayed in a cache. ' : '');
    }

    /* Reasons why kernels may be above the peak; `families` have algorithms with fewer operations than are counted. */
    function above_peak(lines, figure, families) {
        var fewer = lines.some(function (line) { return families.includes(line.family); });
        return (fewer ? 'convolutions by Winograd or FFT need fewer operations than are counted, and the' : 'the') + ' peak was measured ' +
            (figure.disturbed_peak ? 'next to other load' : 'with one product, which may not be the fastest') + '. ';
    }

    /* The number of kernels on a GPU whose time is that of the host. */
    function launch_bound(lines) {
        var count = lines.filter(function (line) { return line.launch_bound; }).length;
        return count ? d.counted(count, 'kernel') + (count === 1 ? ' is' : ' are') + ' launch-bound: the host needs longer to start ' +
            (count === 1 ? 'its' : 'their') + ' calls than the GPU to compute them. ' : '';
    }

    /* The kernels of the table in words, and how many of them have an unsteady newest time. */
    function which_kernels(lines, precision) {
        var unsteady = lines.filter(function (line) { return line.unsteady && line.unsteady[d.last(line)]; }).length;
        return d.counted(lines.length, 'kernel') + ' with a time' + (precision ? ' at ' + d.words(precision) : '') + '. ' + (unsteady ? d.counted(unsteady, 'newest time') +
            (unsteady === 1 ? ' is' : ' are') + ' unsteady; shares of the roof by family count the newest steady times.' : '');
    }

    function above_what(count, what) {
        return d.counted(count, 'kernel') + (count === 1 ? ' is above ' : ' are above ') + what;
    }

    function drawable(lines) { return lines.filter(function (line) { return line.flops && line.bytes; }); }

    function roof_summary(lines, figure, precision, multiplied, families) {
        var own = drawable(lines);
        if (!own.length) { return without_roofline(lines, precision); }
        var counted = own.length === lines.length ? d.counted(own.length, 'kernel')
            : own.length + ' of ' + d.counted(lines.length, 'kernel') + ' (the others have no FLOP per byte)';
        return figure.peak && figure.bandwidth ? counted + '. ' + above(own, figure, families) + launch_bound(own) + 'Click a point to open its timeline.'
            : counted + ', no roof: the profile has no ' + [figure.peak ? '' : 'peak for ' + multiplied,
                figure.bandwidth ? '' : 'memory bandwidth'].filter(Boolean).join(' and no ') + ' on ' + figure.device + '.';
    }

    function note(line) {
        var place = d.last(line), interval = d.interval_text(line, place);
        return [
            line.title,
            [line.problem.title ? d.kernel_name(line) : '', d.words(line.set), d.words(line.operation), line.problem.application].filter(Boolean).join(', '),
            d.seconds(line.seconds[place]) + (interval ? ' (' + interval + ')' : ''),
            d.rate_text(line, place) + ', ' + d.scaled(d.bandwidth(line, place), 'B/s') + ', ' + d.digits(line.flops / line.bytes, 3) + ' FLOP per byte',
            line.roof ? d.percent(d.of_roof(line, place)) + ' of the roof' : 'roof not known',
            line.machine.name + ', ' + line.releases[place].name
        ];
    }

    /* `sides`: {machine, lines, figure} of this machine and of the one that it is compared with. */
    function roofline(sides, families, precision) {
        at('roofline').hidden = !drawable(sides[0].lines).length;
        if (at('roofline').hidden) { return; }
        d.roofline(at('roofline'), {
            families: families, note: note,
            sides: sides.map(function (side) {
                return {name: side.machine.name, lines: drawable(side.lines), peak: side.figure.peak, bandwidth: side.figure.bandwidth};
            }),
            described: 'Roofline of ' + sides.map(function (side) { return side.machine.name; }).join(' and ') + ' at ' + d.words(precision) +
                ': FLOP/s of every kernel over its FLOP per byte, as in the table below'
        });
    }

    /* THE OTHER MACHINE */

    /* The lines of another machine, for the same precision: those of the same framework, else of the one that it has most kernels of. */
    function other_side(catalogue, machine, framework, precision, multiplied) {
        return with_precision(catalogue, machine, d.distinct([framework].concat(machine.frameworks)).filter(function (name) { return machine.frameworks.includes(name); }), precision)
            .then(function (found) {
                var own = found.lines.filter(function (line) { return line.precision === precision && !d.conditions(line, 'device'); });
                var device = own.length ? d.device(own[0]) : null, lines = own.filter(function (line) { return d.device(line) === device; });
                return {machine: machine, framework: found.framework, lines: lines, figure: figures(machine, lines, multiplied)};
            });
    }

    /* The kernels of the first of `frameworks` that has some at a precision, else of the first. */
    function with_precision(catalogue, machine, frameworks, precision) {
        function next(place) {
            return d.newest_lines(catalogue, machine, frameworks[place]).then(function (found) {
                var fits = found.lines.some(function (line) { return line.precision === precision; });
                if (fits || !precision) { return Object.assign({framework: frameworks[place]}, found); }
                return place + 1 < frameworks.length ? next(place + 1)
                    : d.newest_lines(catalogue, machine, frameworks[0]).then(function (first) { return Object.assign({framework: frameworks[0]}, first); });
            });
        }
        return frameworks.length ? next(0) : Promise.resolve({framework: '', lines: [], speeds: []});
    }

    function compared_text(own, other, framework, precision) {
        if (!other) { return []; }
        if (!other.lines.length) { return [other.machine.name + ' has no times at ' + d.words(precision) + ' under the usual conditions. ']; }
        return ['Hollow: ' + other.machine.name + ' with ' + other.framework + '. ', el('a', {href: 'compare.html' + d.address({
            side: [own.name + '@' + framework, other.machine.name + '@' + other.framework]})}, 'Compare kernel by kernel'), '. '];
    }

    /* The speed of each framework over its releases on this machine, those at `precision` first, then the longest. */
    function past(catalogue, machine, speeds, precision) {
        var groups = d.speed_groups(speeds).sort(function (a, b) {
            return (b.precision === precision) - (a.precision === precision) || b.at.length - a.at.length;
        });
        at('past').replaceChildren.apply(at('past'), groups.length ? groups.slice(0, MULTIPLES).map(function (group) { return d.speed_multiple(group, catalogue, d.words(group.precision)); })
            : [el('p', {}, 'No framework has two releases here that measured the same kernels.')]);
    }

    /* THE PAGE */

    /* Marks that save the pictures of the first screen. */
    function pictures() {
        [['roofline', 'Roofline'], ['families', 'Share of the roof']].forEach(function (pair) {
            at(pair[0] + '-title').append(' ', d.picture_mark(function () { return at(pair[0]); }, function () {
                var other = at('with').value;
                return {name: [pair[0], at('machine').value, at('framework').value, at('precision').value].join('-'), title: pair[1] + ' of ' + at('machine').value,
                    sides: [at('framework').value, d.words(at('precision').value), other && 'compared with ' + other].filter(Boolean).join(', ')};
            }));
        });
    }

    d.page(function (catalogue) {
        var machines = catalogue.machines.filter(function (machine) { return Object.keys(machine.families).length; });
        if (!machines.length) { return d.instead('No machine has results yet. Measure some with "asv run", then run "asv publish" again.'); }
        pictures();
        var asked = d.asked(), view = {};
        ['family', 'sort', 'find'].forEach(function (name) { view[name] = asked.get(name) || ''; });
        d.offer(at('machine'), catalogue.machines.map(function (machine) { return [machine.name, machine.name]; }),
            d.first_machine(catalogue).name, asked.get('machine'));
        at('machine').onchange = function () { reset(); return machine_chosen(NONE); };
        at('framework').onchange = function () { reset(); return framework_chosen(at('framework').value, NONE); };
        return machine_chosen(asked);

        function reset() { view = {family: '', sort: '', find: ''}; }
        function machine() { return catalogue.machines.find(function (each) { return each.name === at('machine').value; }); }

        function machine_chosen(wanted) {
            var others = machines.filter(function (each) { return each !== machine(); });
            d.offer(at('with'), [['', 'nothing']].concat(others.map(function (each) { return [each.name, each.name]; })), '', wanted.get('with'));
            d.machine_profile(at('profile'), machine());
            return framework_chosen(wanted.get('framework') || '', wanted);
        }

        /* Without a wanted framework that the machine has the first one that has the wanted precision is shown. */
        function framework_chosen(framework, wanted) {
            var frameworks = machine().frameworks;
            d.offer(at('framework'), frameworks, frameworks[0], framework);
            return d.answer(with_precision(catalogue, machine(), framework && framework === at('framework').value ? [framework] : frameworks, wanted.get('precision')), function (found) {
                at('framework').value = found.framework;
                d.offer(at('precision'), d.distinct(found.lines.map(function (line) { return line.precision; })).sort(), 'float32', wanted.get('precision'));
                d.offer(at('conditions'), d.distinct(found.lines.map(d.conditions)).sort().map(function (text) { return [text, text || 'usual']; }), '', wanted.get('conditions'));
                at('conditions').parentNode.hidden = at('conditions').options.length < 2 && !at('conditions').value;
                at('precision').onchange = at('conditions').onchange = function () { reset(); return shown(found); };
                at('with').onchange = function () { return shown(found); };
                return shown(found);
            });
        }

        function remember(typing) {
            d.remember(Object.assign({machine: machine().name, framework: at('framework').value, precision: at('precision').value,
                conditions: at('conditions').value, 'with': at('with').value}, view), typing);
        }

        function shown(found) {
            var precision = at('precision').value, multiplied = catalogue.multiplied[precision] || precision;
            var lines = found.lines.filter(function (line) { return line.precision === precision && d.conditions(line) === at('conditions').value; });
            var own = {machine: machine(), lines: lines, figure: figures(machine(), lines, multiplied)};
            var second = machines.find(function (each) { return each.name === at('with').value; });
            remember();
            title(own.machine, own.figure, multiplied || 'float32');
            d.machine_software(at('software'), catalogue, own.machine, found.framework);
            return d.answer(second ? other_side(catalogue, second, found.framework, precision, multiplied) : Promise.resolve(null), function (other) {
                draw(own, other, found, precision, multiplied);
            });
        }

        function draw(own, other, found, precision, multiplied) {
            var sides = [own].concat(other || []);
            var families = catalogue.families.filter(function (family) {
                return sides.some(function (side) { return side.lines.some(function (line) { return line.family === family; }); });
            });
            if (!families.includes(view.family)) { view.family = ''; }
            function kept(lines) { return lines.filter(function (line) { return !view.family || line.family === view.family; }); }
            at('roofline-summary').replaceChildren.apply(at('roofline-summary'),
                [roof_summary(kept(own.lines), own.figure, precision, multiplied, catalogue.fewer_operations) + ' '].concat(compared_text(own.machine, other, found.framework, precision)));
            roofline(sides.map(function (side) { return Object.assign({}, side, {lines: kept(side.lines)}); }), catalogue.families, precision);
            past(catalogue, own.machine, found.speeds, precision);
            d.machine_families(at('families'), families, {lines: own.lines, others: other && other.lines, catalogue: catalogue, chosen: view.family,
                choose: function (family) {
                    view.family = family;
                    remember();
                    draw(own, other, found, precision, multiplied);
                }});
            at('kernels-title').textContent = view.family ? 'Kernels: ' + catalogue.headings[view.family] : 'Kernels';
            at('kernels-title').hidden = !own.lines.length;
            at('which').textContent = own.lines.length ? which_kernels(kept(own.lines), precision) : '';
            at('kernels').replaceChildren();
            if (!own.lines.length) { return; }
            d.kernel_table(at('kernels'), {
                name: [view.family || 'kernels', own.machine.name, found.framework, precision, at('conditions').value].filter(Boolean).join('-'),
                title: 'Kernels of ' + own.machine.name, lines: kept(own.lines), catalogue: catalogue, view: view,
                viewed: function (next, typing) { Object.assign(view, next); remember(typing); }
            });
        }
    });
})();
