/* The speed of each family of a framework over its releases, as a small picture that leads to the chart of the start page. */
'use strict';

(function () {
    var d = deepbench, el = d.el;

    /* Speeds grouped by framework, machine, precision and device: {framework, machine, precision, device, speeds, at}, with the places of their
       releases in order; device is undefined where it is the usual one. */
    function groups(speeds) {
        var found = {};
        speeds.forEach(function (one) {
            var key = [one.framework, one.machine, one.precision, d.device(one.unusual)].join('\n');
            found[key] = found[key] || {framework: one.framework, machine: one.machine, precision: one.precision, device: one.unusual.device, speeds: []};
            found[key].speeds.push(one);
        });
        return Object.values(found).map(function (group) {
            var at = d.distinct(group.speeds.flatMap(function (one) { return one.at; })).sort(function (a, b) { return a - b; });
            return Object.assign(group, {at: at});
        });
    }

    /* The families that changed most, as many as there are colours, in their order. */
    function strongest(speeds) {
        function change(one) { return Math.abs(Math.log(one.values[one.values.length - 1])); }
        var chosen = speeds.slice().sort(function (a, b) { return change(b) - change(a); }).slice(0, d.COLOURS);
        return speeds.filter(function (one) { return chosen.includes(one); });
    }

    /* A link with the picture of a group; `where` is the small text below its name, `clicked` is called for a click. */
    function multiple(group, catalogue, where, clicked) {
        var first = catalogue.releases[group.at[0]], last = catalogue.releases[group.at[group.at.length - 1]];
        var shown = strongest(group.speeds), more = group.speeds.length - shown.length;
        var found = shown.map(function (one) {
            var final = one.values[one.values.length - 1];
            return {label: d.digits(final, 2) + '\u00d7 ' + catalogue.headings[one.family], look: d.look(catalogue.families, one.family), at: one.at.map(function (p) { return group.at.indexOf(p); }), values: one.values};
        });
        var rest = more ? 'and ' + more + (more === 1 ? ' family' : ' families') + ' that changed less' : '';
        var said = found.map(function (line) { return line.label; }).concat(rest || []).join(', ');
        var device = group.device ? ' on ' + group.device : '';
        return el('a', {class: 'multiple', click: clicked, href: 'index.html' + d.address({machine: group.machine, framework: group.framework, precision: group.precision}),
            'aria-label': group.framework + ' ' + first.version + ' to ' + last.version + device + ' on ' + group.machine + ', speed over the first release: ' + said},
        el('strong', {}, group.framework), ' ' + first.version + ' to ' + last.version + device, el('br'), el('small', {}, where), d.small_lines(found, group.at.length), rest ? el('small', {}, rest) : []);
    }

    Object.assign(deepbench, {speed_groups: groups, speed_multiple: multiple});
})();
