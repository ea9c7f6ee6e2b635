/* One release: each kernel compared with the previous release of its line, with its verdict. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };

    function rows_of(lines, place) {
        return lines.filter(function (line) { return !line.uncompared; }).map(function (line) {
            var i = line.at.indexOf(place);
            var change = (line.changes || []).find(function (each) { return each[0] === place; });
            return {line: line, i: i, change: change, ratio: i > 0 ? line.seconds[i] / line.seconds[i - 1] : null};
        }).filter(function (row) { return row.i >= 0; });
    }

    function verdict(row) {
        if (row.change) { return row.change[1] > 1 ? 'slower' : 'faster'; }
        return row.i === 0 ? 'first release of its line' : row.line.judged ? '' : 'too few processes to judge';
    }

    /* The size of a kernel's change: by its verdict, else compared with the previous release. */
    function size(row) {
        return Math.abs(Math.log(row.change ? row.change[1] : row.ratio || 1));
    }

    function machine_part(release, machine, rows, all, news) {
        var changed = rows.filter(function (row) { return row.change; });
        var judged = rows.filter(function (row) { return row.line.judged; }).length;
        var shown = all ? rows : changed;
        var parts = [el('h2', {}, machine.name), el('p', {}, d.counted(rows.length, 'kernel') + (rows.length === 1 ? ' was' : ' were') +
            ' measured. ' + judged + ' of ' + (rows.length === 1 ? 'these has' : 'these have') + ' enough processes to judge; ' + changed.length + ' changed.')];
        if (news) { parts.push(el('p', {class: 'news'}, 'New software with this release on this machine: ' + news)); }
        if (shown.length) {
            var place = el('div');
            d.table(place, {
                name: release.name + '-' + machine.name,
                title: release.name + ' on ' + machine.name,
                rows: shown.sort(function (a, b) { return size(b) - size(a); }),
                taken: [d.same('release', release.name), {title: '99 % interval: high', unit: 'ratio', number: true,
                    value: function (row) { return row.change ? row.change[3] : null; }}].concat(d.of_lines(function (row) { return row.line; },
                    ['problem', 'family', 'set', 'pass', 'precision'])),
                detail: function (row) { return d.detail(row.line, row.i); },
                columns: [
                    {title: 'problem', value: function (row) { return [d.kernel_name(row.line), row.line.device].filter(Boolean).join(', '); }},
                    {title: 'family', value: function (row) { return d.words(row.line.family); }},
                    {title: 'set', value: function (row) { return d.words(row.line.set); }},
                    {title: 'pass', value: function (row) { return d.words(row.line.operation); }},
                    {title: 'precision', value: function (row) { return row.line.precision; }},
                    {title: 'verdict', value: verdict, cell: function (row) {
                        return row.change ? el('strong', {class: verdict(row)}, verdict(row)) : verdict(row);
                    }},
                    {title: 'level', head: 'change', unit: 'ratio', number: true, value: function (row) { return row.change ? row.change[1] : null; }, text: d.times},
                    {title: '99 % interval: low', head: '99 % interval', unit: 'ratio', number: true,
                        value: function (row) { return row.change ? row.change[2] : null; },
                        text: function (low, row) { return d.ratio_interval(low, row.change[3]); }},
                    {title: 'before', value: function (row) { return row.i ? row.line.releases[row.i - 1].name : ''; }},
                    {title: 'time', unit: 'seconds', number: true, value: function (row) { return row.line.seconds[row.i]; }, text: d.seconds},
                    {title: 'vs previous release', unit: 'ratio', number: true, value: function (row) { return row.ratio; }, text: d.times}
                ]
            });
            parts.push(place);
        }
        if (changed.length) {
            parts.push(el('p', {}, 'This command measures them again on that machine, with both releases in turn, and keeps the changes that repeat:'),
                d.command_block(d.confirm_command(machine.name, release.name)));
        }
        return parts;
    }

    d.page(function (catalogue) {
        var wanted = d.asked();
        var releases = catalogue.releases.map(function (release, place) { return {release: release, place: place}; });
        if (!releases.length) { return d.instead('No release has been measured yet. Measure one with "asv run", then run "asv publish" again.'); }
        var measured = releases.filter(function (one) { return !one.release.published; });
        var first = releases.find(function (one) { return one.release.name === wanted.get('release'); }) ||
            (measured.length ? measured : releases).slice(-1)[0];
        d.offer(at('framework'), d.distinct(releases.map(function (one) { return one.release.framework; })).sort(),
            first.release.framework);
        at('framework').onchange = function () { framework_chosen(); };
        at('release').onchange = at('which').onchange = shown;
        d.choose(at('which'), wanted.get('show'));
        return framework_chosen(first.release.name, wanted.get('release'));

        function framework_chosen(usual, asked) {
            var own = releases.filter(function (one) { return one.release.framework === at('framework').value; }).reverse();
            d.offer(at('release'), own.map(function (one) { return [one.release.name, one.release.name]; }),
                usual || own[0].release.name, asked);
            return shown();
        }

        function shown() {
            var one = releases.find(function (each) { return each.release.name === at('release').value; });
            d.remember({release: one.release.name, show: at('which').value});
            var machines = catalogue.machines.filter(function (machine) { return machine.releases.includes(one.place); });
            at('summary').textContent = one.release.name + ', released on ' + one.release.date + ', was measured on ' +
                d.counted(machines.length, 'machine') + '.';
            return d.answer(Promise.all(machines.map(function (machine) {
                var asked = [d.load('data/stacks/' + machine.key)].concat(Object.keys(machine.families).map(function (family) {
                    return d.lines(catalogue, machine, family);
                }));
                return Promise.all(asked).then(function (found) {
                    var stack = found.shift()[one.release.framework];
                    var own = stack && stack['new'].find(function (each) { return each[0] === one.place; });
                    return machine_part(one.release, machine, rows_of(found.flat(), one.place), at('which').value === 'all',
                        own ? own[1] : '');
                });
            })), function (parts) { at('machines').replaceChildren.apply(at('machines'), parts.flat()); });
        }
    });
})();
