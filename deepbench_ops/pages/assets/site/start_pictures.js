/* The pictures of the start page: the fastest machines, the latest changes, frameworks next to each other, and each
   framework's speed since its first release. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var CHANGES = 5, MULTIPLES = 4;
    var STRONGEST = Math.log(5);  /* ratio at which a cell of the matrix has its strongest colour */

    function fragment(name, values) { return name + d.address(values); }

    /* FASTEST */

    /* The rows of a ranking, each with a bar on a logarithmic scale and a paler bar up to the roof behind it. */
    function bars(ranking, machines) {
        var tops = ranking.ranks.map(function (rank) { return Math.max(rank.rate, rank.roof || 0); });
        var least = Math.min.apply(null, ranking.ranks.map(function (rank) { return rank.rate; })) / 2;
        var most = Math.max.apply(null, tops);
        function width(value) { return 100 * Math.log(value / least) / Math.log(most / least) + '%'; }
        function bar(kind, value) {
            var found = el('i', {class: kind});
            found.style.width = width(value);
            return found;
        }
        return el('table', {class: 'bars'},
            el('thead', {class: 'status'}, el('tr', {}, ['machine', 'rate on a logarithmic scale', 'rate', 'share of the roof', 'measured with']
                .map(function (title) { return el('th', {scope: 'col'}, title); }))),
            el('tbody', {}, ranking.ranks.map(function (rank) {
                var source = rank.published ? 'as published ' + rank.year : rank.frameworks.slice(0, 2).join(', ') + ' ' + rank.year;
                var chained = rank.through ? '*' : '';
                return el('tr', {class: rank.published ? 'published' : 'measured', title: rank.machine + ': ' + d.processor(machines[rank.machine]) +
                        (rank.through ? '; compared with ' + rank.through + ' on ' + d.counted(rank.kernels, 'kernel') + ' that both have' : '')},
                    el('th', {scope: 'row'}, el('a', {href: fragment('machine.html', {machine: rank.machine, precision: ranking.precision})}, rank.machine)),
                    el('td', {class: 'bar', 'aria-hidden': 'true'}, el('span', {}, rank.roof ? bar('roof', rank.roof) : [], bar('rate', rank.rate))),
                    el('td', {class: 'number'}, el('strong', {}, d.scaled(rank.rate, ranking.counts) + chained)),
                    el('td', {class: 'number'}, rank.roof ? d.percent(rank.rate / rank.roof, 2) : ''),
                    el('td', {}, el('small', {}, source)));
            })));
    }

    /* One radio button a value, as a row of chips with the `text` of each. `changed` is called with the chosen value. */
    function chips(name, legend, values, chosen, text, changed) {
        return el('fieldset', {class: 'chips'}, el('legend', {class: 'status'}, legend), values.map(function (value) {
            return el('label', {}, el('input', {type: 'radio', name: name, value: value, checked: value === chosen,
                change: function () { changed(value); }}), el('span', {}, text(value)));
        }));
    }

    function fastest(place, start, catalogue, wanted, remember) {
        var machines = Object.fromEntries(catalogue.machines.map(function (machine) { return [machine.name, machine]; }));
        function heading(name) { return catalogue.headings[name]; }
        var families = d.distinct(start.fastest.map(function (one) { return one.family; }));
        if (!families.length) {
            place.hidden = true;
            return;
        }
        var family = families.includes(wanted.ranked) ? wanted.ranked : families[0];
        var own = start.fastest.filter(function (one) { return one.family === family; });
        var precisions = own.map(function (one) { return one.precision; });
        var precision = [wanted['ranked-precision'], 'float32', precisions[0]].find(function (each) { return precisions.includes(each); });
        var ranking = own.find(function (one) { return one.precision === precision; });
        function changed(values) {
            var next = Object.assign({}, wanted, values);
            fastest(place, start, catalogue, next, remember);
            remember({ranked: next.ranked, 'ranked-precision': next['ranked-precision']});
            var again = place.querySelector('input[name=' + Object.keys(values)[0] + ']:checked');
            if (again) { again.focus({preventScroll: true}); }
        }
        place.replaceChildren(
            el('h2', {}, 'Fastest at ' + heading(family), ' ', el('small', {}, precision + ', ' + d.counted(ranking.kernels, 'shared kernel')), ' ', about(
                'The rate of a machine is the geometric mean over the ' + d.counted(ranking.kernels, 'kernel') + ' that the machines share, each by its fastest ' +
                'framework, with its newest time. The pale bar behind it is the roof: the rate that arithmetic and memory allow for these kernels. ' +
                'Bars have a logarithmic scale. A machine with * has not all of these kernels: it is compared with one of the others, on the kernels ' +
                'that both have. Grey bars are published figures.'), ' ',
            saved(place, 'table', 'fastest-' + family + '-' + precision, 'Fastest at ' + heading(family) + ', ' + precision, d.counted(ranking.kernels, 'shared kernel'))),
            el('div', {class: 'chip-rows'},
                chips('ranked', 'Family', families, family, heading, function (value) { changed({ranked: value}); }),
                chips('ranked-precision', 'Precision', precisions, precision, d.words, function (value) { changed({'ranked-precision': value}); })),
            bars(ranking, machines));
    }

    /* A mark that saves a part of `place` as a picture. */
    function saved(place, part, name, title, sides) {
        return d.picture_mark(function () { return place.querySelector(part); }, function () { return {name: name, title: title, sides: sides}; });
    }

    /* A mark that opens an explanation. */
    function about(text) {
        return el('details', {class: 'about'}, el('summary', {'aria-label': 'How to read this'}, '?'), el('p', {}, text));
    }

    /* CHANGES */

    function changes(place, start, catalogue) {
        var rows = start.latest.slice().sort(function (a, b) { return Math.abs(Math.log(b.ratio)) - Math.abs(Math.log(a.ratio)); });
        place.replaceChildren(
            el('h2', {}, 'What changed lately', ' ', el('small', {}, 'largest of the latest ' + rows.length), ' ',
                rows.length ? saved(place, 'ol', 'latest-changes', 'What changed lately', 'largest of the latest ' + rows.length) : []),
            rows.length ? el('ol', {class: 'changes'}, rows.slice(0, CHANGES).map(function (row) { return change(row, catalogue); }))
                : el('p', {}, 'No change is larger than the noise.'),
            el('p', {}, el('a', {href: 'verdicts.html'}, 'All ' + d.counted(start.changes, 'change'))));
    }

    function change(row, catalogue) {
        var kind = row.slower ? 'slower' : 'faster', after = catalogue.releases[row.after], largest = row.lines[0];
        var size = Math.max(row.ratio, 1 / row.ratio);
        var mark = row.course.findIndex(function (pair) { return pair[0] === row.after; });
        return el('li', {},
            el('strong', {class: kind}, el('span', {'aria-hidden': 'true'}, row.slower ? '\u25b2 ' : '\u25bc '), d.digits(size, 2) + '\u00d7 ' + kind),
            el('div', {}, el('a', {href: fragment('release.html', {release: after.name, machine: row.machine})}, after.name), ' ',
                el('a', {class: 'plain', href: fragment('timeline.html', largest.at)}, changed_kernels(row, catalogue.headings)),
                el('br'), el('small', {}, row.machine + ', ' + d.ratio_interval(row.span[0], row.span[1]).replace(/ times /g, '\u00d7 '))),
            row.course.length > 1 ? d.sparkline(row.course.map(function (pair) { return pair[1]; }), mark, kind) : el('span'));
    }

    /* One kernel in words, or how many kernels of which family. */
    function changed_kernels(row, headings) {
        var line = row.lines[0], family = headings[line.at.family], precision = ', ' + d.words(line.at.precision);
        if (row.kernels === 1) { return [family, line.name.replace(line.at.problem, line.title), d.words(line.at.operation)].join(' ') + precision; }
        return (row.what === line.at.family + ', ' + line.at.precision ? family + precision : row.what) + ': ' + row.kernels + ' of ' + d.counted(row.watched, 'kernel');
    }

    /* FRAMEWORKS */

    function cell(found) {
        if (!found) { return el('td', {class: 'none'}, '\u2013'); }
        var ratio = found[0], clear = found[2], said = d.times_than(ratio, 'the fastest') + ', ' + d.counted(found[1], 'kernel') + (clear ? '' : ', no more than noise');
        var shown = el('td', {title: said}, d.digits(ratio, 3) + '\u00d7');
        if (!clear) {
            shown.className = 'unclear';
        } else if (ratio === 1) {
            shown.className = 'fast';
        } else {
            shown.className = 'slow';
            shown.style.setProperty('--strength', Math.round(10 + 60 * Math.min(1, Math.log(ratio) / STRONGEST)) + '%');
        }
        return shown;
    }

    /* Of the machine asked for, else of the one that published, else of that with the most rows. */
    function frameworks(place, start, catalogue, wanted, remember) {
        var names = Object.keys(start.ratios).sort();
        if (!names.length) {
            place.hidden = true;
            return;
        }
        var most = names.slice().sort(function (a, b) { return start.ratios[b].length - start.ratios[a].length; })[0];
        var machine = [wanted.where, catalogue.here, most].find(function (name) { return names.includes(name); });
        var select = el('select', {'aria-label': 'Machine', change: function () {
            frameworks(place, start, catalogue, Object.assign({}, wanted, {where: select.value}), remember);
            remember({where: select.value});
            place.querySelector('select').focus({preventScroll: true});
        }}, names.map(function (name) { return el('option', {value: name}, name); }));
        select.value = machine;
        var rows = start.ratios[machine], shown = d.distinct(rows.flatMap(function (row) { return Object.keys(row.ratios); })).sort();
        place.replaceChildren(
            el('h2', {}, 'Which framework?', ' ', el('small', {}, 'time over that of the fastest'), ' ', about('The geometric mean, over the kernels that the frameworks share, of ' +
                'each framework\u2019s newest time, divided by that of the fastest framework of the row. Green: ahead of all others; without colour: the noise cannot tell it from the fastest. The frameworks page has every kernel, with ' +
                'noise and intervals.'), ' ',
                saved(place, 'table', 'frameworks-' + machine, 'Time over that of the fastest framework', machine)),
            el('p', {class: 'inline'}, select, ' ', el('a', {href: 'frameworks.html'}, 'kernel by kernel')),
            el('div', {class: 'sideways', tabindex: 0, role: 'group', 'aria-label': 'Which framework, on ' + machine}, el('table', {class: 'heat'},
                el('thead', {}, el('tr', {}, el('td'), shown.map(function (name) { return el('th', {scope: 'col'}, name); }))),
                el('tbody', {}, rows.map(function (row) {
                    return el('tr', {}, el('th', {scope: 'row'}, catalogue.headings[row.family], row.precision === 'float32' ? '' : ' ' + row.precision, ' ',
                        el('small', {}, d.counted(row.kernels, 'kernel'))),
                    shown.map(function (name) { return cell(row.ratios[name]); }));
                })))));
    }

    /* SINCE THE FIRST RELEASE */

    /* Of each framework the machine with the longest history, at float32 where there is one, the longest first. Each picture leads to the
       chart below, which `follow_up` brings into view. */
    function speeds(place, start, catalogue, follow_up) {
        var groups = d.speed_groups(start.speeds.filter(function (one) { return one.framework !== 'published'; }));
        function rank(group) { return (group.precision === 'float32') * 1000 + group.at.length; }
        var best = {};
        groups.forEach(function (group) {
            var known = best[group.framework];
            if (!known || rank(group) > rank(known)) { best[group.framework] = group; }
        });
        var shown = Object.values(best).sort(function (a, b) { return b.at.length - a.at.length; }).slice(0, MULTIPLES);
        place.hidden = !shown.length;
        place.replaceChildren(
            el('h2', {}, 'Against the first release', ' ', el('small', {}, 'higher is faster'), ' ',
                saved(place, '.multiples', 'against-the-first-release', 'Speed over that of the first release, higher is faster', shown.map(function (group) { return group.framework + ' on ' + group.machine; }).join('; '))),
            el('div', {class: 'multiples'}, shown.map(function (group) {
                return d.speed_multiple(group, catalogue, group.machine + (group.precision === 'float32' ? '' : ', ' + group.precision), follow_up);
            })));
    }

    Object.assign(deepbench, {start_pictures: {fastest: fastest, changes: changes, frameworks: frameworks, speeds: speeds}});
})();
