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

    function with_key(time) {
        time.key = [time.family, time.set, time.operation, time.precision, problem_name(time)].join('|');
        return time;
    }

    /* The newest time of each kernel with a framework in each state of the machine and on each number of threads, from the machine's file of newest times. */
    function newest(catalogue, machine, framework) {
        return d.load('data/newest/' + machine.key).then(function (found) {
            return Object.entries(found.times[framework] || {}).flatMap(function (pair) {
                return pair[1].map(function (row) {
                    var time = {machine: machine, framework: framework, device: pair[0], release: catalogue.releases[row[1]], seconds: row[2], of_roof: row[3], state: found.states[row[4]], threads: found.threads[row[4]], others: d.other_versions(row[2], row[5])};
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
                return [with_key({machine: machine, framework: line.framework, device: d.device(line), release: line.releases[i], seconds: line.seconds[i], state: line.states ? line.states[i] : '', threads: line.threads ? line.threads[i] : '',
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

    /* The times of each kernel: one for each state of the machine and number of threads that it was measured in. */
    function by_kernel(times) {
        var found = new Map();
        times.forEach(function (time) { found.set(time.key, (found.get(time.key) || []).concat(time)); });
        return found;
    }

    /* The newest pair of times of a kernel that `fits(first, other)`, as {first, other}; undefined where there is none. */
    function newest_pair(first, other, fits) {
        function days(pair) { return [pair.first.release.date, pair.other.release.date].sort().join(); }
        return first.flatMap(function (one) {
            return other.filter(function (each) { return fits(one, each); }).map(function (each) { return {first: one, other: each}; });
        }).sort(function (a, b) { return days(a) < days(b) ? 1 : -1; })[0];
    }

    function shared(first, other) {
        var count = 0;
        first.forEach(function (times, key) { count += !!newest_pair(times, other.get(key) || [], d.agree); });
        return count;
    }

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
                if (!left.length || !wanted.size) { return null; }
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
        var found = [];
        first.times.forEach(function (times, key) {
            var pair = newest_pair(times, other.times.get(key) || [], d.agree);
            if (pair) { found.push(Object.assign(pair, {ratio: pair.other.seconds / pair.first.seconds})); }
        });
        return found.sort(function (a, b) { return a.ratio - b.ratio; });
    }

    /* The newest pair of times of each kernel that both sides have, but at no times that agree. */
    function left_out(first, other) {
        return Array.from(first.times).flatMap(function (kernel) {
            var others = other.times.get(kernel[0]) || [];
            return newest_pair(kernel[1], others, d.agree) ? [] : newest_pair(kernel[1], others, function () { return true; }) || [];
        });
    }

    function count(side, family, precision) {
        var found = 0;
        side.times.forEach(function (times) { found += times[0].family === family && times[0].precision === precision; });
        return found;
    }

    /* A side with its kernels under the usual conditions only. */
    function usual(side) {
        return Object.assign({}, side, {times: new Map(Array.from(side.times).filter(function (kernel) { return !kernel[1][0].conditions; }))});
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
                    first_has: count(first, family, precision), other_has: count(own, family, precision)},
                mean(by[key], catalogue.student));
            });
        });
    }

    deepbench.sides = {parsed: parsed, name: name, short_names: short_names, problem_name: problem_name, load: load, pair: pair, partner: partner, devices: devices, applications: applications,
        times_on: times_on, detail: detail, changes: changes, left_out: left_out, count: count, groups: groups};
})();
