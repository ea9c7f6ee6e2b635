/* The speed of each family of a framework over its releases, as a small picture that leads to the chart of the start page. */
'use strict';

(function () {
    var d = deepbench, el = d.el;

    /* Speeds grouped by framework, machine, precision and device: {framework, machine, precision, speeds, at}, with the places of their releases in order. */
    function groups(speeds) {
        var found = {};
        speeds.forEach(function (one) {
            var key = [one.framework, one.machine, one.precision, d.device(one.unusual)].join('\n');
            found[key] = found[key] || {framework: one.framework, machine: one.machine, precision: one.precision, speeds: []};
            found[key].speeds.push(one);
        });
        return Object.values(found).map(function (group) {
            var at = d.distinct(group.speeds.flatMap(function (one) { return one.at; })).sort(function (a, b) { return a - b; });
            return Object.assign(group, {at: at});
        });
    }

    /* A link with the picture of a group; `where` is the small text below its name, `clicked` is called for a click. */
    function multiple(group, catalogue, where, clicked) {
        var first = catalogue.releases[group.at[0]], last = catalogue.releases[group.at[group.at.length - 1]];
        var found = group.speeds.map(function (one) {
            var final = one.values[one.values.length - 1];
            return {label: d.digits(final, 2) + '\u00d7 ' + catalogue.headings[one.family], at: one.at.map(function (p) { return group.at.indexOf(p); }), values: one.values};
        });
        var said = found.map(function (line) { return line.label; }).join(', ');
        return el('a', {class: 'multiple', click: clicked, href: 'index.html' + d.address({machine: group.machine, framework: group.framework, 'speed-precision': group.precision}),
            'aria-label': group.framework + ' ' + first.version + ' to ' + last.version + ' on ' + group.machine + ', speed over the first release: ' + said},
        el('strong', {}, group.framework), ' ' + first.version + ' to ' + last.version, el('br'), el('small', {}, where), d.small_lines(found, group.at.length));
    }

    Object.assign(deepbench, {speed_groups: groups, speed_multiple: multiple});
})();
