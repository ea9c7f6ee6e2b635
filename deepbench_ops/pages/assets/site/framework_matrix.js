/* The matrix of frameworks and families on a machine, and the kernels of one of its cells. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var MOST = 25;  /* kernels of a cell that are shown at first */

    /* A choice as text: the family, the framework, and the device where it is not the usual one, with blanks between them. No name
       holds a blank. */
    function picked(row, framework) { return [row.family, framework].concat(row.device || []).join(' '); }

    /* The heading of a row: its family, and the device where it is not the usual one. */
    function heading(row, catalogue) { return catalogue.headings[row.family] + (row.device ? ' on ' + row.device : ''); }

    /* Draw the choices and the matrix of `wanted`, {where, at, cell}, into `place`. `chosen(values)` is called with the
       changes of the user. */
    function matrix(place, catalogue, machines, wanted, chosen) {
        var machine = machines.find(function (each) { return each.machine === wanted.where; }) ||
            machines.find(function (each) { return each.machine === catalogue.here; }) ||
            machines.slice().sort(function (a, b) { return b.rows.length - a.rows.length; })[0];
        var precisions = d.distinct(machine.rows.map(function (row) { return row.precision; })).sort(function (a, b) {
            return (b === 'float32') - (a === 'float32') || a.localeCompare(b);
        });
        var precision = precisions.includes(wanted.at) ? wanted.at : precisions[0];
        var rows = machine.rows.filter(function (row) { return row.precision === precision; });
        var names = Object.keys(machine.versions).filter(function (name) {
            return rows.some(function (row) { return row.cells[name]; });
        });
        var cell = wanted.cell && find(rows, wanted.cell) ? wanted.cell : '';
        offer(machine, machines, precisions, precision, catalogue, function (values) { chosen(Object.assign({cell: ''}, values)); });
        place.replaceChildren(
            rows.length ? el('div', {class: 'sideways', tabindex: 0, role: 'group', 'aria-label': 'Frameworks on ' + machine.machine},
                drawn(rows, names, machine, catalogue, cell, chosen))
                : el('p', {}, 'No family on ' + machine.machine + ' has enough kernels that two frameworks share. The kernels are listed below.'),
            rows.length ? d.key([['fast', 'fastest'], ['same', 'the noise cannot tell it from the fastest'], ['slow', 'slower']]) : [],
            rows.length ? el('p', {class: 'tools'}, together(rows), ' ',
                d.copy_button('Copy as Markdown', function () { return markdown(rows, names, catalogue, machine); }), ' ',
                d.picture_buttons(function () { return place.querySelector('.matrix'); }, function () {
                    return {name: 'frameworks-' + machine.machine + '-' + precision, title: 'Time over that of the fastest framework, ' + d.words(precision), sides: names.join(', ') + ' on ' + machine.machine};
                })) : []);
        return {machine: machine, row: find(rows, cell), framework: cell.split(' ')[1]};
    }

    /* The row of a choice. */
    function find(rows, cell) {
        var framework = cell.split(' ')[1];
        return rows.find(function (row) { return row.cells[framework] && picked(row, framework) === cell; });
    }

    /* Fill the choices of the toolbar. */
    function offer(machine, machines, precisions, precision, catalogue, chosen) {
        var where = document.getElementById('where'), at = document.getElementById('at');
        d.offer(where, machines.map(function (each) { return [each.machine, each.machine]; }), null, machine.machine);
        d.offer(at, precisions, null, precision);
        at.disabled = precisions.length < 2;
        d.mark_choice(where, catalogue.machines.find(function (each) { return each.name === machine.machine; }));
        where.onchange = function () { chosen({where: where.value}); };
        at.onchange = function () { chosen({where: machine.machine, at: at.value}); };
    }

    function versions(known) {
        return known.length < 3 ? known.join(', ') : known[0] + ' to ' + known[known.length - 1];
    }

    function drawn(rows, names, machine, catalogue, cell, chosen) {
        return el('table', {class: 'matrix'},
            el('thead', {}, el('tr', {}, el('td'), names.map(function (name) {
                return el('th', {scope: 'col'}, name, el('small', {}, versions(machine.versions[name])));
            }))),
            el('tbody', {}, rows.map(function (row) {
                return el('tr', {}, el('th', {scope: 'row'}, heading(row, catalogue)), names.map(function (name) {
                    return row.cells[name] ? el('td', {}, button(row, name, cell, chosen)) : el('td', {class: 'none'}, 'not measured');
                }));
            })));
    }

    function fastest(row) {
        return Object.keys(row.cells)[0];
    }

    function kernels(row, name) {
        return row.cells[name].kernels || row.common;
    }

    /* 'fast', 'same' or 'slow': the fastest where it is ahead of all, those within the noise, all others. */
    function kind(row, name) {
        if (name === fastest(row)) { return row.clear ? 'fast' : 'same'; }
        return row.cells[name].clear ? 'slow' : 'same';
    }

    function text(row, name) {
        return name === fastest(row) ? '\u2605 fastest' : d.digits(row.cells[name].ratio, row.cells[name].ratio < 2 ? 3 : 2) + '\u00d7';
    }

    function button(row, name, cell, chosen) {
        var own = picked(row, name), here = own === cell, found = row.cells[name];
        var said = name === fastest(row) ? (row.clear ? 'the fastest' : 'the fastest, but others are within the noise')
            : d.factor_than(found.ratio, fastest(row)) + (found.clear ? '' : ', within the noise');
        return d.tint(el('button', {type: 'button', id: 'cell-' + own.replace(/ /g, '-'), 'aria-pressed': String(here), title: name + ': ' + said + '. Show its kernels.',
            click: function () { chosen({cell: here ? '' : own}); }},
        el('small', {class: 'which'}, name), el('b', {}, text(row, name)), el('small', {}, d.counted(kernels(row, name).length, 'kernel'))),
        kind(row, name), found.ratio);
    }

    /* Whether the times of the rows come from the same rounds, in words. */
    function together(rows) {
        var all = 0, shared = 0;
        rows.forEach(function (row) {
            Object.keys(row.cells).forEach(function (name) {
                if (name === fastest(row)) { return; }
                all += kernels(row, name).length;
                shared += row.cells[name].together;
            });
        });
        return !shared ? 'No two frameworks were measured in the same rounds: their times were taken apart.'
            : shared === all ? 'All frameworks were measured in the same rounds.' : shared + ' of ' + all + ' ratios come from rounds that measured both frameworks, the others from times taken apart.';
    }

    function markdown(rows, names, catalogue, machine) {
        var head = [machine.machine + ', ' + d.words(rows[0].precision)].concat(names).map(function (name) { return name.replace(/[\\|<]/g, '\\$&'); });
        return [head, head.map(function () { return '---'; })].concat(rows.map(function (row) {
            return [heading(row, catalogue)].concat(names.map(function (name) {
                return row.cells[name] ? text(row, name) + (kind(row, name) === 'same' ? ' (within the noise)' : '') : '';
            }));
        })).map(function (cells) { return '| ' + cells.join(' | ') + ' |'; }).join('\n') + '\n';
    }

    /* The kernels of a cell with a dot and whiskers each, slowest first; `all` are the machine's kernels. */
    function cell_kernels(place, catalogue, machine, row, name, all) {
        var other = row.cells[name].against, found = row.cells[name];
        var rows = kernels(row, name).map(function (at) { return compared(all[at], name, other, machine); })
            .sort(function (a, b) { return b.ratio - a.ratio; });
        place.replaceChildren(
            el('h2', {id: 'picked', tabindex: -1}, name + ' compared with ' + other + ': ' + heading(row, catalogue) + ', ' + d.words(row.precision)),
            el('p', {}, d.counted(rows.length, 'kernel') + ' that both have measured on ' + machine.machine + '. A dot is the time of ' + name + ' over that of ' + other +
                ', its whiskers are the 99 % interval; the pale band around \u201cequal\u201d is the interval of ' + other + '. Grey where the two overlap. ' +
                (found.together ? found.together + ' of these kernels were measured in the same rounds: the matrix has their ratios in these rounds, the dots those of the stored times.' : 'The times were taken apart, in rounds of their own.') +
                (other === fastest(row) || name === fastest(row) ? '' : ' With ' + fastest(row) + ', the fastest, it shares fewer kernels, so it is compared through ' + other + '.')),
            d.dots(rows, ['kernel', name + ' over ' + other, 'times'], MOST),
            el('p', {class: 'tools'}, d.picture_buttons(function () { return place.querySelector('.dots'); }, function () {
                return {name: ['kernels', machine.machine, row.family, row.device, row.precision, name, other].filter(Boolean).join('-'), sides: machine.machine,
                    title: name + ' compared with ' + other + ': ' + heading(row, catalogue) + ', ' + d.words(row.precision)};
            })));
    }

    function compared(kernel, name, other, machine) {
        function time(framework) { return kernel.times.find(function (one) { return one[0] === framework; }); }
        var own = time(name), against = time(other), base = against[4];
        var low = own[6] ? own[5] / base : null, high = own[6] ? own[6] / base : null;
        var band = against[6] ? [against[5] / base, against[6] / base] : null;
        var apart = low && band && (low > band[1] || high < band[0]);
        var ratio = own[4] / base;
        var problem = kernel.kernel.problem.id;
        return {
            name: (kernel.title || kernel.name) + (kernel.section[1] === 'forward' ? '' : ', ' + d.words(kernel.section[1])), id: kernel.title ? problem : '',
            href: 'timeline.html' + d.address({family: kernel.section[0], set: kernel.sets[0], operation: kernel.section[1], precision: kernel.section[2], problem: problem,
                ranks: kernel.kernel.ranks, machine: machine.machine}),
            ratio: ratio, low: low, high: high, other: band, kind: apart ? d.direction(ratio) || 'unclear' : 'unclear',
            note: d.seconds(own[4]) + ' and ' + d.seconds(base) + (own[6] ? '' : '; ' + own[5])
        };
    }

    Object.assign(deepbench, {framework_matrix: matrix, cell_kernels: cell_kernels});
})();
