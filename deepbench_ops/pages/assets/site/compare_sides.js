/* The sides of a comparison: a machine with a release, or with the newest time of a framework for each kernel, and the
   ratios of their times on the kernels that both have. */
'use strict';

(function () {
    var d = deepbench;

    /* A side from `machine@release` or `machine@framework`; the last @ counts. */
    function parsed(spec) {
        var cut = spec.lastIndexOf('@');
        return cut < 0 ? {machine: spec, of: ''} : {machine: spec.slice(0, cut), of: spec.slice(cut + 1)};
    }

    function name(side) {
        return side.machine + '@' + side.of;
    }

    /* Names of sides in words, and the part that all of them share: {shared, names}. Of releases of one framework on one machine the
       versions remain. */
    function short_names(sides) {
        var machines = d.distinct(sides.map(function (side) { return side.machine; })), of = d.distinct(sides.map(function (side) { return side.of; }));
        var frameworks = d.distinct(of.map(function (each) { return each.replace(/-[^-]*$/, ''); }));
        function names(read) { return sides.map(read); }
        if (machines.length > 1) {
            return of.length > 1 ? {shared: '', names: names(function (side) { return side.machine + ' (' + side.of + ')'; })}
                : {shared: of[0], names: names(function (side) { return side.machine; })};
        }
        if (frameworks.length === 1 && of.length > 1 && of.every(function (each) { return each !== frameworks[0]; })) {
            return {shared: machines[0] + ', ' + frameworks[0], names: names(function (side) { return side.of.slice(frameworks[0].length + 1); })};
        }
        return {shared: machines[0], names: names(function (side) { return side.of; })};
    }

    function problem_name(time) {
        return [time.problem + (time.ranks ? ', ' + time.ranks + ' ranks' : ''), time.conditions].filter(Boolean).join(', ');
    }

    /* A time with the name of its kernel, and of the kernel in its set. */
    function with_key(time) {
        time.kernel = [time.family, time.operation, time.precision, problem_name(time)].join('|');
        time.key = time.set + '|' + time.kernel;
        return time;
    }

    /* The newest time of each kernel with a framework in each state of the machine and on each number of threads, from the machine's file of newest times. */
    function newest(catalogue, machine, framework) {
        return d.load('data/newest/' + machine.key).then(function (found) {
            return Object.entries(found.times[framework] || {}).flatMap(function (pair) {
                return pair[1].map(function (row) {
                    var time = {machine: machine, framework: framework, device: pair[0], release: catalogue.releases[row[1]], seconds: row[2], of_roof: row[3], state: found.states[row[4]], threads: found.threads[row[4]], ensemble: found.ensembles[row[4]], others: d.other_versions(row[2], row[5])};
                    Object.keys(found.kernels).forEach(function (field) { time[field] = found.kernels[field][row[0]]; });
                    return with_key(time);
                });
            });
        });
    }

    /* The times of one release, from the lines of all families. */
    function of_release(catalogue, machine, release) {
        var framework = (catalogue.releases.find(function (each) { return each.name === release; }) || {}).framework;
        return Promise.all(Object.keys(machine.families).map(function (family) { return d.lines_to_choose(catalogue, machine, family); })).then(function (found) {
            return d.with_times(catalogue, found.flat().filter(function (line) { return line.framework === framework && !line.uncompared; }));
        }).then(function (lines) {
            return lines.flatMap(function (line) {
                var i = line.releases.findIndex(function (each) { return each.name === release; });
                if (i < 0 || line.unsteady && line.unsteady[i]) { return []; }
                return [with_key({machine: machine, framework: line.framework, device: d.device(line), release: line.releases[i], seconds: line.seconds[i], state: line.states ? line.states[i] : '', threads: line.threads ? line.threads[i] : '', ensemble: Boolean(line.ensemble && line.ensemble[i]),
                    others: d.other_versions(line.seconds[i], line.conflict && line.conflict[i]), of_roof: d.of_roof(line, i), family: line.family, set: line.set, operation: line.operation, precision: line.precision,
                    problem: line.problem.id, title: line.problem.title, ranks: line.ranks, conditions: d.conditions(line, 'device'),
                    application: line.problem.application, intensity: line.flops && line.bytes ? line.flops / line.bytes : null})];
            });
        });
    }

    /* All times of a side, as a list; `times_on` chooses those of a device. */
    function load(catalogue, machine, side) {
        var found = machine.frameworks.includes(side.of) ? newest(catalogue, machine, side.of) : of_release(catalogue, machine, side.of);
        return found.then(function (all) { return {machine: side.machine, of: side.of, all: all}; });
    }

    function grouped(times, key) {
        var found = new Map();
        times.forEach(function (time) { found.set(key(time), (found.get(key(time)) || []).concat(time)); });
        return found;
    }

    /* Measured times of one kernel in several published sets as one time, under the name of the first set: their geometric mean. A time of an
       ensemble stands for all. */
    function pooled(times) {
        var together = times.filter(function (time) { return time.ensemble; });
        if (together.length) { times = together; }
        var first = times.slice().sort(function (a, b) { return a.set < b.set ? -1 : 1; })[0];
        var seconds = d.distinct(times.map(function (time) { return time.seconds; }));
        if (seconds.length < 2) { return first; }
        var middle = Math.exp(seconds.reduce(function (sum, each) { return sum + Math.log(each); }, 0) / seconds.length);
        return Object.assign({}, first, {seconds: middle, of_roof: first.of_roof && first.of_roof * first.seconds / middle});
    }

    /* The times of each kernel, one for each device, release, state of the machine and number of threads. `pooled` are those over all sets, null for
       published figures, since sheets of training and of inference may hold other passes. */
    function by_kernel(times) {
        var several = grouped(times, function (time) { return [time.kernel, time.device, time.release.name, time.state, time.threads].join('|'); });
        return {in_sets: grouped(times, function (time) { return time.key; }),
            pooled: times.some(function (time) { return time.framework === 'published'; }) ? null
                : grouped(Array.from(several.values(), pooled), function (time) { return time.kernel; })};
    }

    /* The newest pair of times of a kernel that `fits(first, other)`, as {first, other}; undefined where there is none. */
    function newest_pair(first, other, fits) {
        function days(pair) { return [pair.first.release.date, pair.other.release.date].sort().join(); }
        return first.flatMap(function (one) {
            return other.filter(function (each) { return fits(one, each); }).map(function (each) { return {first: one, other: each}; });
        }).sort(function (a, b) { return days(a) < days(b) ? 1 : -1; })[0];
    }

    /* For each kernel that both have, `chosen` of its times on both sides: a pair, or nothing. Sets count only if one side is published. */
    function pairs(first, other, chosen) {
        var part = first.pooled && other.pooled ? 'pooled' : 'in_sets';
        return Array.from(first[part]).flatMap(function (kernel) { return chosen(kernel[1], other[part].get(kernel[0]) || []) || []; });
    }

    function agreeing(first, other) { return newest_pair(first, other, d.agree); }

    function shared(first, other) { return pairs(first, other, agreeing).length; }

    /* The newest times of each framework on a machine, by kernel. */
    function of_machine(catalogue, machine) {
        return Promise.all(machine.frameworks.map(function (framework) {
            return load(catalogue, machine, {machine: machine.name, of: framework}).then(function (side) { return {side: side, kernels: by_kernel(side.all)}; });
        }));
    }

    function chosen(side) { return {machine: side.machine, of: side.of}; }

    /* The two frameworks that share most kernels, on the first of `machines` that has such ones; null where none has. */
    function pair(catalogue, machines) {
        var left = machines.filter(function (machine) { return machine.frameworks.length > 1; });
        if (!left.length) { return Promise.resolve(null); }
        return of_machine(catalogue, left[0]).then(function (found) {
            var best = {count: 0, sides: null};
            found.forEach(function (first, place) {
                found.slice(place + 1).forEach(function (other) {
                    var count = shared(first.kernels, other.kernels);
                    if (count > best.count) { best = {count: count, sides: [chosen(first.side), chosen(other.side)]}; }
                });
            });
            return best.sides || pair(catalogue, left.slice(1));
        });
    }

    /* A side to compare `sides` with: of the machine of the first one, else of the next machine that shares kernels with it, the framework
       that shares most. Null where none shares any. */
    function partner(catalogue, machines, sides) {
        var first = sides[0], taken = sides.map(name);
        var own = machines.find(function (machine) { return machine.name === first.machine; });
        return load(catalogue, own, first).then(function (loaded) {
            var wanted = by_kernel(loaded.all);
            function next(left) {
                if (!left.length || !wanted.in_sets.size) { return null; }
                return of_machine(catalogue, left[0]).then(function (found) {
                    var best = found.filter(function (one) { return !taken.includes(name(one.side)); })
                        .map(function (one) { return {side: one.side, count: shared(wanted, one.kernels)}; })
                        .sort(function (a, b) { return b.count - a.count; })[0];
                    return best && best.count ? chosen(best.side) : next(left.slice(1));
                });
            }
            return next([own].concat(machines.filter(function (machine) { return machine !== own; })));
        });
    }

    function devices(side) {
        return d.distinct(side.all.map(function (time) { return time.device; })).sort();
    }

    /* The applications of all kernels; '' among them where some state none. */
    function applications(sides) {
        return d.distinct(sides.flatMap(function (side) { return side.all.map(function (time) { return time.application || ''; }); })).sort();
    }

    /* The times of a side by kernel; `device` is used where a machine has several. An `application` of '' means all. */
    function times_on(side, device, application) {
        var several = devices(side).length > 1;
        return by_kernel(side.all.filter(function (time) { return (!several || time.device === device) && (!application || time.application === application); }));
    }

    /* The line behind a time, and the place of its release, from the file of lines, which open below a row. */
    function detail(catalogue, time) {
        return d.lines_to_choose(catalogue, time.machine, time.family).then(function (lines) {
            return d.with_times(catalogue, lines.filter(function (each) {
                return each.framework === time.framework && d.device(each) === time.device &&
                    each.set === time.set && each.operation === time.operation && each.precision === time.precision &&
                    each.problem.id === time.problem && (each.ranks || null) === (time.ranks || null) && d.conditions(each, 'device') === time.conditions;
            }));
        }).then(function (lines) {
            function place(line) {
                return line.releases.findIndex(function (release, i) { return release === time.release && (line.states ? line.states[i] : '') === time.state; });
            }
            var line = lines.find(function (each) { return place(each) >= 0; });
            return line ? d.detail(line, place(line)) : d.el('p', {}, 'The line of this time is not among the published data.');
        });
    }

    /* The geometric mean of ratios, with Student's interval over their logarithms, and their range. */
    function mean(ratios, student) {
        var logs = ratios.map(Math.log), n = logs.length;
        var middle = logs.reduce(function (a, b) { return a + b; }, 0) / n;
        var found = {ratio: Math.exp(middle), low: null, high: null, from: Math.min.apply(null, ratios), to: Math.max.apply(null, ratios)};
        if (n < 2) { return found; }
        var squares = logs.reduce(function (sum, log) { return sum + Math.pow(log - middle, 2); }, 0);
        var reach = student[Math.min(n - 1, student.length) - 1] * Math.sqrt(squares / (n - 1) / n);
        return Object.assign(found, {low: Math.exp(middle - reach), high: Math.exp(middle + reach)});
    }

    /* The kernels that both sides have at times that agree, each {first, other, ratio} of seconds, lowest ratio first. */
    function changes(first, other) {
        return pairs(first.times, other.times, agreeing).map(function (pair) { return Object.assign(pair, {ratio: pair.other.seconds / pair.first.seconds}); })
            .sort(function (a, b) { return a.ratio - b.ratio; });
    }

    /* The newest pair of times of each kernel that both sides have, but at no times that agree. */
    function left_out(first, other) {
        return pairs(first.times, other.times, function (one, two) {
            return agreeing(one, two) ? null : newest_pair(one, two, function () { return true; });
        });
    }

    /* How many kernels a side has that can be compared with those of another. */
    function count(side, other, family, precision) {
        var times = side.times.pooled && other.times.pooled || side.times.in_sets, found = 0;
        times.forEach(function (some) { found += some[0].family === family && some[0].precision === precision; });
        return found;
    }

    /* A side with its kernels under the usual conditions only. */
    function usual(side) {
        function plain(kernels) { return kernels && new Map(Array.from(kernels).filter(function (kernel) { return !kernel[1][0].conditions; })); }
        return Object.assign({}, side, {times: {in_sets: plain(side.times.in_sets), pooled: plain(side.times.pooled)}});
    }

    /* The summary of each other side, family and precision, families in the catalogue's order: of kernels under the usual conditions, as in
       `deepbench compare`. */
    function groups(catalogue, sides) {
        var first = usual(sides[0]);
        return sides.slice(1).flatMap(function (other) {
            var own = usual(other), by = {};
            changes(first, own).forEach(function (change) {
                var key = change.first.family + '\n' + change.first.precision;
                (by[key] = by[key] || []).push(change.ratio);
            });
            function place(key) { return catalogue.families.indexOf(key.split('\n')[0]); }
            return Object.keys(by).sort().sort(function (a, b) { return place(a) - place(b); }).map(function (key) {
                var family = key.split('\n')[0], precision = key.split('\n')[1];
                return Object.assign({other: other, family: family, precision: precision, shared: by[key].length,
                    first_has: count(first, own, family, precision), other_has: count(own, first, family, precision)},
                mean(by[key], catalogue.student));
            });
        });
    }

    deepbench.sides = {parsed: parsed, name: name, short_names: short_names, problem_name: problem_name, load: load, pair: pair, partner: partner, devices: devices, applications: applications,
        times_on: times_on, detail: detail, changes: changes, left_out: left_out, count: count, groups: groups};
})();
