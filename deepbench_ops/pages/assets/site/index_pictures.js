/* The pictures of the start page: the fastest machines, the latest changes, frameworks next to each other, and each
   framework's speed since its first release. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var MACHINES = 12, PUBLISHED = 3, ROWS = 6, CHANGES = 5, MULTIPLES = 4;  /* shown at first: as many as fit into one screen of 1280 x 900 */
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
        return few(ranking.ranks, first_ranks(ranking.ranks), 'Show all ' + d.counted(ranking.ranks.length, 'machine'), function (body) {
            return el('table', {class: 'bars'}, el('thead', {class: 'status'}, el('tr', {}, ['machine', 'rate on a logarithmic scale', 'rate', 'share of the roof', 'measured with']
                .map(function (title) { return el('th', {scope: 'col'}, title); }))), body);
        }, function (rank, at, shown) {
            var place = ranking.ranks.indexOf(rank), left_out = at ? place - ranking.ranks.indexOf(shown[at - 1]) - 1 : 0;
            var source = rank.published ? 'as published ' + rank.year : rank.frameworks.slice(0, 2).join(', ') + ' ' + rank.year;
            var chained = rank.through ? '*' : '';
            return (left_out ? [gap(left_out)] : []).concat(el('tr', {class: rank.published ? 'published' : 'measured', title: rank.machine + ': ' + d.processor(machines[rank.machine]) +
                    (rank.through ? '; compared with ' + rank.through + ' on ' + d.counted(rank.kernels, 'kernel') + ' that both have' : '')},
                el('th', {scope: 'row'}, el('small', {}, place + 1 + '. '), el('a', {href: fragment('machine.html', {machine: rank.machine, precision: ranking.precision, conditions: rank.device})},
                    rank.machine + (rank.device ? ', ' + rank.device : '')), ' ', d.unsigned_mark(machines[rank.machine])),
                el('td', {class: 'bar', 'aria-hidden': 'true'}, el('span', {}, rank.roof ? bar('roof', rank.roof) : [], bar('rate', rank.rate))),
                el('td', {class: 'number'}, el('strong', {}, d.scaled(rank.rate, ranking.counts) + chained)),
                el('td', {class: 'number'}, rank.roof ? d.percent(rank.rate / rank.roof, 2) : ''),
                el('td', {}, el('small', {}, source))));
        });
    }

    /* A row for ranks that are not shown. */
    function gap(count) {
        return el('tr', {class: 'gap'}, el('td', {class: 'number'}, '\u22ee ' + count + ' more'), el('td', {colspan: 4}));
    }

    /* The ranks that are shown at first: measured machines, and the fastest published ones, PUBLISHED of them at least. */
    function first_ranks(ranks) {
        function of(published, most) { return ranks.filter(function (rank) { return rank.published === published; }).slice(0, most); }
        var measured = of(false, MACHINES - of(true, PUBLISHED).length), taken = measured.concat(of(true, MACHINES - measured.length));
        return ranks.filter(function (rank) { return taken.includes(rank); });
    }

    /* `whole(body)` is a table with a row, or several, for each of the `first` values, and a button below it that shows all `values`. */
    function few(values, first, all, whole, row) {
        var body = el('tbody', {}, first.flatMap(row));
        var more = d.more_button(first.length, values.length, all, function () {
            body.replaceChildren.apply(body, values.flatMap(row));
            return body.rows[values.findIndex(function (value) { return !first.includes(value); })];
        });
        return [whole(body), more];
    }

    /* The precision of `all` that is wanted, else float32, else the first. */
    function usual_precision(all, wanted) {
        return [wanted, 'float32', all[0]].find(function (each) { return all.includes(each); });
    }

    /* The ranking of a family; at another precision where it has none at the wanted one. */
    function fastest(place, start, catalogue, wanted) {
        var machines = Object.fromEntries(catalogue.machines.map(function (machine) { return [machine.name, machine]; }));
        var own = start.fastest.filter(function (one) { return one.family === wanted.family; });
        place.hidden = !own.length;
        if (!own.length) { return; }
        var precision = usual_precision(own.map(function (one) { return one.precision; }), wanted.precision);
        var ranking = own.find(function (one) { return one.precision === precision; });
        var title = 'Fastest at ' + catalogue.headings[wanted.family], shared = d.counted(ranking.kernels, 'shared kernel');
        place.replaceChildren.apply(place, [
            el('h2', {}, title, ' ', el('small', {}, d.words(precision) + ', ' + shared), ' ', about(
                'The rate of a machine is the geometric mean over the ' + d.counted(ranking.kernels, 'kernel') + ' that the machines share, each by its fastest ' +
                'framework, with its newest time. The pale bar behind it is the roof: the rate that arithmetic and memory allow for these kernels. ' +
                'Bars have a logarithmic scale. Measured machines and the fastest published ones are shown first; the numbers are places among all machines. A machine with * has not all of these kernels: it is compared with one of the others, on the kernels ' +
                'that both have. Grey bars are published figures.'), ' ',
            saved(place, 'table', 'fastest-' + wanted.family + '-' + precision, title + ', ' + d.words(precision), shared))].concat(
            precision === wanted.precision ? [] : el('p', {}, 'No machines share such kernels at ' + d.words(wanted.precision) + '.'), bars(ranking, machines)));
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
        var rows = start.latest, sides = 'within a year, largest first';
        place.replaceChildren(
            el('h2', {}, 'What changed lately', ' ', el('small', {}, sides), ' ', about(
                'The largest of ' + d.counted(start.recent, 'change') + ' with releases of the year before the newest change; older ones are in the list of changes, which has the newest of each machine, and on the pages of releases. A change is larger than the noise of its kernels. Its factor compares the levels before and after, so that it may differ from the quotient of two times. The range is its 99 % interval. Where several kernels changed that were not ' +
                'measured in the same rounds, it is the range of these kernels. The line is the time over the releases.'), ' ',
                rows.length ? saved(place, 'ol', 'latest-changes', 'What changed lately', sides) : []),
            rows.length ? el('ol', {class: 'changes'}, rows.slice(0, CHANGES).map(function (row) { return change(row, catalogue); }))
                : el('p', {}, 'No change is larger than the noise.'),
            el('p', {}, el('a', {href: 'verdicts.html'}, 'List of changes'), ': the newest of all ' + d.grouped(start.changes) + '; older ones by ', el('a', {href: 'releases.html'}, 'release'), '.'));
    }

    function change(row, catalogue) {
        var kind = row.slower ? 'slower' : 'faster', after = catalogue.releases[row.after];
        var mark = row.course.findIndex(function (pair) { return pair[0] === row.after; });
        return el('li', {},
            el('strong', {class: kind}, el('span', {'aria-hidden': 'true'}, row.slower ? '\u25b2 ' : '\u25bc '), d.factor(row.ratio)),
            el('div', {}, el('a', {href: fragment('release.html', {release: after.name, machine: row.machine})}, after.name), ' ',
                el('a', {class: 'plain', href: fragment('timeline.html', row.lines[0].at)}, changed_kernels(row, catalogue)),
                el('br'), el('small', {}, row.machine + ', ' + span(row))),
            row.course.length > 1 ? d.sparkline(row.course.map(function (pair) { return pair[1]; }), mark, kind) : el('span'));
    }

    /* The interval of a change, or the range of its kernels where it has none; the direction stands in front of it. */
    function span(row) {
        return (row.sure ? '99 %: ' : 'kernels: ') + d.ratio_interval(row.span[0], row.span[1]).replace(row.slower ? / slower$/ : / faster$/, '');
    }

    /* A kernel in words. */
    function kernel(line, prefixes) {
        return prefixes[line.at.family] + line.title + ' ' + d.words(line.at.operation) + ', ' + d.words(line.at.precision);
    }

    /* The changed kernel, or the common part of several. */
    function changed_name(row, catalogue) {
        var first = row.lines[0], headings = catalogue.headings;
        return row.scope === 'kernel' ? kernel(first, catalogue.title_prefixes) : row.scope === 'framework' ? 'most kernels of ' + catalogue.releases[row.after].framework
            : headings[first.at.family] + ', ' + d.words(first.at.precision);
    }

    function changed_kernels(row, catalogue) {
        return changed_name(row, catalogue) + (row.scope === 'kernel' ? '' : ': ' + row.lines.length + ' of ' + d.counted(row.watched, 'kernel'));
    }

    /* FRAMEWORKS */

    function cell(found) {
        if (!found) { return el('td', {class: 'none'}, '\u2013'); }
        var ratio = found[0], clear = found[2], said = d.factor_than(ratio, 'the fastest') + ', ' + d.counted(found[1], 'kernel') + (clear ? '' : ', within the noise');
        var shown = el('td', {title: said}, d.digits(ratio, 3) + '\u00d7', d.said(clear ? '' : 'within the noise'));
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

    /* Of the machine asked for where two frameworks share kernels, else of the one that published, else of that with the most rows. */
    function frameworks(place, start, catalogue, wanted) {
        var names = Object.keys(start.ratios).sort();
        place.hidden = !names.length;
        if (!names.length) { return; }
        var most = names.slice().sort(function (a, b) { return start.ratios[b].length - start.ratios[a].length; })[0];
        var machine = [wanted.machine, catalogue.here, most].find(function (name) { return names.includes(name); });
        var rows = start.ratios[machine], shown = d.distinct(rows.flatMap(function (row) { return Object.keys(row.ratios); })).sort();
        var matrix = few(rows, rows.slice(0, ROWS), 'Show all ' + rows.length + ' rows', function (body) {
            return el('div', {class: 'sideways', tabindex: 0, role: 'group', 'aria-label': 'Which framework, on ' + machine}, el('table', {class: 'heat'},
                el('thead', {}, el('tr', {}, el('td'), shown.map(function (name) { return el('th', {scope: 'col'}, name); }))), body));
        }, function (row) {
            return el('tr', {}, el('th', {scope: 'row'}, catalogue.headings[row.family], row.device ? ' on ' + row.device : '', row.precision === 'float32' ? '' : ' ' + d.words(row.precision), ' ',
                el('small', {}, d.counted(row.kernels, 'kernel'))),
            shown.map(function (name) { return cell(row.ratios[name]); }));
        });
        place.replaceChildren.apply(place, [
            el('h2', {}, 'Which framework?', ' ', el('small', {}, machine + ', time over that of the fastest'), ' ', about('The geometric mean, over the kernels that the frameworks share, of ' +
                'each framework\u2019s newest time, divided by that of the fastest framework of the row. Green: ahead of all others; grey: the noise cannot tell it from the fastest. ' +
                'The frameworks page has every kernel, with noise and intervals.'), ' ',
                saved(place, 'table', 'frameworks-' + machine, 'Time over that of the fastest framework', machine))].concat(
            [machine, ''].includes(wanted.machine) ? [] : el('p', {}, wanted.machine + ' has no kernels with several frameworks.'), matrix,
            el('p', {}, el('a', {href: fragment('frameworks.html', {where: machine})}, 'Kernel by kernel'))));
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
            el('h2', {}, 'Against the first release', ' ', el('small', {}, 'higher is faster'), ' ', about('The speed of each family of a framework over its releases, on the machine with ' +
                'the longest history. Each step from a release to the next is the geometric mean over the kernels that both measured; the steps are multiplied. A click opens ' +
                'the chart below.'), ' ',
                saved(place, '.multiples', 'against-the-first-release', 'Speed over that of the first release, higher is faster', shown.map(function (group) { return group.framework + ' on ' + group.machine; }).join('; '))),
            el('div', {class: 'multiples'}, shown.map(function (group) {
                return d.speed_multiple(group, catalogue, group.machine + (group.precision === 'float32' ? '' : ', ' + d.words(group.precision)), follow_up);
            })));
    }

    Object.assign(deepbench, {index_pictures: {fastest: d.guarded(fastest), changes: d.guarded(changes), frameworks: d.guarded(frameworks), speeds: d.guarded(speeds), kernel: kernel, changed_name: changed_name,
        usual_precision: usual_precision}});
})();
