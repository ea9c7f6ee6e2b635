/* Two releases, kernel by kernel, from data/changes/MACHINE/FRAMEWORK.

   deepbench.compared(found, catalogue, machine, framework, after, before) gives a row for each kernel that two releases of a framework
   on a machine have. Releases are places in the catalogue; `before` is null for the release before `after` on the kernel's own line.
   deepbench.compared_sides(after, before, catalogue) does the same for releases of two frameworks or on two machines, each a side
   {found, machine, framework, place}. A row has
   - line: the kernel, in the form of kernel_lines.js; to: the place of the release on it; base, from: the same of the release that it is
     compared with, on the same line unless there are two sides; plain: the ratio of both times; noise: that of the line, of two sides that of plain;
   - verdict: 'slower', 'faster', 'unchanged' or 'unjudged'; ratio: of the levels where it changed, else of both times;
   - low, high: the interval of 99 % of the ratio, null where there is none; origin: how the verdict was obtained, or why there
     is none; also: other machines with the same change, as pairs of name and ratio; was, now: the implementations.
   All ratios are seconds after / seconds before. */
'use strict';

(function () {
    var d = deepbench;
    var SMALLEST = 0.005;  /* as in analysis/verdict.py */
    var APART = 'separate processes';
    var NORMAL_99 = 2.576;  /* as in analysis/frameworks_by_kernel.py */
    var VERDICTS = ['slower', 'faster', 'unchanged', 'unjudged'];

    function line_of(kernel, found, catalogue, machine, framework) {
        var problem = found.problems[kernel.problem];
        return Object.assign({}, kernel, {
            machine: machine, framework: framework, family: problem[0], heading: catalogue.headings[problem[0]],
            title: catalogue.title_prefixes[problem[0]] + problem[2], problem: {id: problem[1], title: problem[2]},
            releases: kernel.at.map(function (place) { return catalogue.releases[place]; }),
            ensemble: kernel.ensemble && kernel.ensemble.map(function (each) { return each && [found.ensembles[each[0]].join(' ')].concat(each.slice(1)); })
        });
    }

    /* A kernel in words, such as 'matrix products 1760 x 128 x 1760 forward, int8'. */
    function kernel_label(line) {
        return line.title + ' ' + d.words(line.operation) + ', ' + line.precision;
    }

    function unsteady(kernel, place) { return kernel.unsteady ? kernel.unsteady[place] : ''; }

    /* The places of a kernel after `from` up to `to` that are steady: each ends a step. */
    function steps_between(kernel, from, to) {
        var places = [];
        for (var place = from + 1; place <= to; place += 1) {
            if (!unsteady(kernel, place)) { places.push(kernel.at[place]); }
        }
        return places;
    }

    function by_place(rows, places) {
        return (rows || []).filter(function (row) { return places.includes(row[0]); });
    }

    function unjudged(why) { return {verdict: 'unjudged', low: null, high: null, origin: why}; }

    /* The verdict on a ratio with its interval. */
    function judged(ratio, low, high, origin) {
        var apart = (low > 1 || high < 1) && Math.abs(ratio - 1) >= SMALLEST;
        var verdict = apart ? d.direction(ratio) || (ratio > 1 ? 'slower' : 'faster')
            : low >= 1 / (1 + d.SAME) && high <= 1 + d.SAME ? 'unchanged' : 'unjudged';
        return {verdict: verdict, ratio: ratio, low: low, high: high, origin: origin + (verdict === 'unjudged' ? ': interval too wide' : '')};
    }

    function rounds(count, state) { return d.counted(count, 'shared round') + (state ? ', ' + state : ''); }

    /* The verdict of rounds that measured both releases of one step. */
    function by_step(step) {
        var kinds = {slower: 'slower', faster: 'faster', same: 'unchanged', ambiguous: 'unjudged'};
        return {verdict: kinds[step[1]], ratio: step[2], low: step[3], high: step[4],
            origin: rounds(step[5], step[6]) + (step[1] === 'ambiguous' ? ': interval too wide' : '')};
    }

    /* The verdict of an ensemble that has both releases: their ratios to its anchor, with the widths of both intervals added as
       those of independent figures, which is too wide rather than too narrow. Null where they share no ensemble. */
    function by_ensemble(base, from, line, to) {
        var a = base.ensemble && base.ensemble[from], b = line.ensemble && line.ensemble[to];
        if (!a || !b || a[0] !== b[0] || a[2] !== b[2]) { return null; }
        var ratio = b[3] / a[3];
        function width(upper, lower) { return Math.exp(Math.hypot(Math.log(upper[5] / upper[3]), Math.log(lower[3] / lower[4]))); }
        return judged(ratio, ratio / width(a, b), ratio * width(b, a), rounds(Math.min(a[1], b[1]), a[2]));
    }

    /* The verdict of the changes along the line: their product, with the widths of their intervals added as above. Without changes both
       times, `plain` being their ratio, must lie within the noise to be called unchanged. */
    function by_changes(kernel, places, steps, plain) {
        var changes = by_place(kernel.changes, places);
        var origin = steps.length === places.length ? 'shared rounds' : APART;
        if (!changes.length) {
            return Object.assign(unjudged(origin + ', too few for a difference beyond the noise'), d.within_noise(kernel, plain) ? {verdict: 'unchanged', origin: origin} : {});
        }
        function sum(of) { return changes.reduce(function (all, change) { return all + of(change); }, 0); }
        function width(end) { return Math.sqrt(sum(function (change) { return Math.pow(Math.log(change[end] / change[1]), 2); })); }
        var ratio = Math.exp(sum(function (change) { return Math.log(change[1]); }));
        if (changes.length > 1) { origin = changes.length + ' changes in between, ' + origin; }
        var found = {verdict: d.direction(ratio) || 'unchanged', ratio: ratio, low: ratio / Math.exp(width(2)), high: ratio * Math.exp(width(3)), origin: origin};
        return found.low > 1 || found.high < 1 || changes.length === 1 ? found : Object.assign(found, {verdict: 'unjudged', origin: origin + ': they may cancel'});
    }

    function verdict_of(kernel, from, to, plain) {
        var strange = unsteady(kernel, from) || unsteady(kernel, to);
        if (strange) { return unjudged('unsteady: ' + strange); }
        if (!kernel.changes) { return unjudged('published figures: their noise is not known'); }
        var places = steps_between(kernel, from, to), steps = by_place(kernel.steps, places);
        if (places.length === 1 && steps.length) { return by_step(steps[0]); }
        var together = by_ensemble(kernel, from, kernel, to);
        if (together) { return together; }
        var known = steps.length === places.length && steps.every(function (step) { return step[1] !== 'ambiguous'; });
        return kernel.judged || known ? by_changes(kernel, places, steps, plain) : unjudged('too few processes to judge');
    }

    function turned(row) {
        var other = {slower: 'faster', faster: 'slower'};
        return Object.assign({}, row, {verdict: other[row.verdict] || row.verdict, ratio: 1 / row.ratio, plain: 1 / row.plain,
            low: row.high && 1 / row.high, high: row.low && 1 / row.low, from: row.to, to: row.from, was: row.now, now: row.was,
            also: row.also.map(function (each) { return [each[0], 1 / each[1]]; })});
    }

    function row_of(line, from, to, implementations) {
        var plain = line.seconds[to] / line.seconds[from], places = steps_between(line, from, to);
        function implementation(place) { return line.implementation ? implementations[line.implementation[place]] : ''; }
        return Object.assign({line: line, base: line, from: from, to: to, plain: plain, noise: line.noise, ratio: plain, was: implementation(from), now: implementation(to),
            also: by_place(line.changes, places).flatMap(function (change) { return change[4]; })}, verdict_of(line, from, to, plain));
    }

    /* The place of the newest steady time before `to`; -1 where there is none. */
    function earlier(kernel, to) {
        var place = to - 1;
        while (place >= 0 && unsteady(kernel, place)) { place -= 1; }
        return place;
    }

    function compared(found, catalogue, machine, framework, after, before) {
        return found.kernels.flatMap(function (kernel) {
            var to = kernel.at.indexOf(after), from = before === null ? earlier(kernel, to) : kernel.at.indexOf(before);
            if (to < 0 || from < 0 || from === to) { return []; }
            var line = line_of(kernel, found, catalogue, machine, framework);
            return [from < to ? row_of(line, from, to, found.implementations) : turned(row_of(line, to, from, found.implementations))];
        }).sort(by_verdict);
    }

    function by_verdict(a, b) {
        return VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict) || Math.abs(Math.log(b.ratio)) - Math.abs(Math.log(a.ratio));
    }

    /* TWO SIDES: other frameworks or machines */

    /* The kernels that a side's release has, as {line, place}, and the middle noise of each family and precision. */
    function times_of(side, catalogue) {
        var noises = {}, times = side.found.kernels.flatMap(function (kernel) {
            var line = line_of(kernel, side.found, catalogue, side.machine, side.framework), place = kernel.at.indexOf(side.place);
            (noises[group_of(line)] = noises[group_of(line)] || []).push(line.noise);
            return place < 0 ? [] : [{line: line, place: place}];
        });
        Object.keys(noises).forEach(function (group) { noises[group] = middle(noises[group]); });
        return {times: times, noises: noises, implementations: side.found.implementations};
    }

    function group_of(line) { return line.family + ' ' + line.precision; }

    /* The median of the numbers that are known; undefined without any. */
    function middle(values) {
        var known = values.filter(Boolean).sort(function (a, b) { return a - b; });
        return known[known.length >> 1];
    }

    /* How well two times of a kernel fit: devices must be equal on one machine, states too where both are known. 0 where they may not be
       compared. */
    function fit(line, base) {
        var together = line.machine === base.machine, device = d.device(line) === d.device(base);
        if (together && !device || !d.agree(line, base)) { return 0; }
        return 1 + 2 * device + ((line.state || '') === (base.state || ''));
    }

    /* The noise of a time, the mean of its processes: that of its line, or of its family where this is larger, since few processes may
       lie together by chance. */
    function noise_of(line, place, noises) {
        return Math.max(line.noise || 0, noises[group_of(line)] || 0) / Math.sqrt(line.processes ? line.processes[place] : 1);
    }

    /* The verdict on times of two lines: by rounds that had both, else they must differ by more than the noise of both. */
    function verdict_of_sides(row, noises) {
        var strange = unsteady(row.line, row.to) || unsteady(row.base, row.from);
        if (strange) { return unjudged('unsteady: ' + strange); }
        if (!row.line.changes || !row.base.changes) { return unjudged('published figures: their noise is not known'); }
        var together = row.line.machine === row.base.machine && by_ensemble(row.base, row.from, row.line, row.to);
        if (together) { return together; }
        if (!noises.every(Boolean)) { return unjudged('one process: the noise is not known'); }
        var reach = Math.exp(NORMAL_99 * row.noise), found = {verdict: d.direction(row.plain), low: row.plain / reach, high: row.plain * reach, origin: APART};
        if (!d.within_noise(row, row.plain)) { return found; }
        return Object.assign(found, d.within_noise({noise: 0}, Math.exp(d.BAND * row.noise)) ? {verdict: 'unchanged'} : {verdict: 'unjudged', origin: APART + ': the noise is too large'});
    }

    function compared_sides(after, before, catalogue) {
        var own = times_of(after, catalogue), other = times_of(before, catalogue), by_kernel = {};
        function implementation(of, line, place) { return line.implementation ? of.implementations[line.implementation[place]] : ''; }
        other.times.forEach(function (time) { (by_kernel[d.kernel(time.line)] = by_kernel[d.kernel(time.line)] || []).push(time); });
        return own.times.flatMap(function (time) {
            var line = time.line, fitting = (by_kernel[d.kernel(line)] || []).filter(function (each) { return fit(line, each.line); });
            var base = fitting.sort(function (a, b) { return fit(line, b.line) - fit(line, a.line); })[0];
            if (!base) { return []; }
            var noises = [noise_of(line, time.place, own.noises), noise_of(base.line, base.place, other.noises)], plain = line.seconds[time.place] / base.line.seconds[base.place];
            var row = {line: line, base: base.line, from: base.place, to: time.place, plain: plain, ratio: plain, noise: noises.every(Boolean) ? Math.hypot(noises[0], noises[1]) : undefined,
                was: implementation(other, base.line, base.place), now: implementation(own, line, time.place), also: []};
            return [Object.assign(row, verdict_of_sides(row, noises))];
        }).sort(by_verdict);
    }

    function mean(ratios) {
        return Math.exp(ratios.reduce(function (sum, ratio) { return sum + Math.log(ratio); }, 0) / ratios.length);
    }

    /* The software that changed from one release to another: [name, value before, value after] of each fact, in two lists, companion
       packages and all else. */
    function new_software(software, after, before) {
        var own = software.findIndex(function (row) { return row[0] === after; });
        var first = before === null ? own - 1 : software.findIndex(function (row) { return row[0] === before; });
        var facts = {}, packages = new Set(), low = Math.min(own, first), high = Math.max(own, first);
        if (own < 0 || before !== null && first < 0) { return {packages: [], others: []}; }
        software.slice(low + 1, high + 1).forEach(function (row) {
            Object.entries(row[1]).forEach(function (pair) { facts[pair[0]] = [(facts[pair[0]] || pair[1])[0], pair[1][1]]; });
            row[2].forEach(function (name) { packages.add(name); });
        });
        var rows = Object.entries(facts).map(function (pair) { return [pair[0]].concat(own < first ? pair[1].slice().reverse() : pair[1]); })
            .filter(function (row) { return row[1] !== row[2]; });
        function is_package(row) { return packages.has(row[0]); }
        return {packages: rows.filter(is_package), others: rows.filter(function (row) { return !is_package(row); })};
    }

    Object.assign(deepbench, {compared: compared, compared_sides: compared_sides, group_of: group_of, middle: middle, kernel_label: kernel_label, mean_ratio: mean, new_software: new_software, VERDICTS: VERDICTS});
})();
