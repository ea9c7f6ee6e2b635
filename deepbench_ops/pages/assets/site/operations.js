/* Every problem of the lists with its FLOPs, bytes and FLOP per byte, and where machines turn from memory to arithmetic. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };
    var WIDEST = 720;  /* pixels of the histogram */
    var ALL = 'all';
    var CHOICES = ['family', 'operation', 'precision', 'machine'];
    var view = {};  /* order and filter of the table */

    function remember(typing) {
        d.remember(Object.assign(Object.fromEntries(CHOICES.map(function (id) { return [id, at(id).value]; })), view), typing);
    }

    /* The device on which a machine has most lines; without any the first of its profile. */
    function main_device(machine) { return machine.devices[0] || (machine.peaks[0] || {}).device; }

    /* The name of a machine, with its main device where its profile has several. */
    function machine_name(machine) {
        var several = d.distinct(machine.peaks.map(function (each) { return each.device; })).length > 1;
        return machine.name + (several ? ' (' + main_device(machine) + ')' : '') + d.unsigned_words(machine);
    }

    /* FLOP per byte from which arithmetic bounds the kernels of a machine's main device; null where it is not known. */
    function ridge(machine, precision) {
        function peak(name) {
            return machine.peaks.find(function (each) { return each.of === name && each.device === main_device(machine) && each.value; });
        }
        var arithmetic = peak(precision), memory = peak('memory');
        return arithmetic && memory ? arithmetic.value / memory.value : null;
    }

    function rows(families, operation, precision) {
        return families.flatMap(function (family) {
            var place = family.precisions.indexOf(precision);
            return place < 0 ? [] : family.problems.filter(function (problem) { return operation in problem.flops; }).map(function (problem) {
                var flops = problem.flops[operation], bytes = problem.bytes[operation][place];
                return Object.assign({}, problem, {family: family.family, multiplied: (problem.multiplied || family.multiplied)[precision], flops: flops, bytes: bytes, intensity: flops && bytes ? flops / bytes : null});
            });
        });
    }

    /* The chosen family, or all. */
    function chosen_families(families) {
        return families.filter(function (each) { return [ALL, each.family].includes(at('family').value); });
    }

    function bound(row, turn) {
        return row.intensity === null ? 'memory' : turn === null ? null : row.intensity < turn ? 'memory' : 'arithmetic';
    }

    function picture(found, machines, precision, chosen) {
        var known = found.map(function (row) { return row.intensity; }).filter(Boolean);
        var ridges = machines.map(function (machine) { return {name: machine_name(machine), at: ridge(machine, precision), chosen: machine.name === chosen}; })
            .filter(function (one) { return one.at; });
        at('intensities').hidden = !known.length;
        if (!known.length) { return; }
        at('intensities').replaceChildren(d.histogram(known, ridges, Math.min(WIDEST, at('intensities').clientWidth)),
            el('figcaption', {}, 'Problems by FLOP per byte, on a logarithmic scale. Left of a machine\u2019s line its memory bounds a kernel, right of it its arithmetic. ' +
                d.counted(ridges.length, 'machine') + (ridges.length === 1 ? ' has' : ' have') + ' a peak at ' + d.words(precision) + '.'),
            el('div', {class: 'tools'}, d.picture_buttons(function () { return at('intensities').querySelector('svg'); }, function () {
                var what = [at('operation').value, precision], family = at('family').selectedOptions[0].textContent;
                return {name: ['intensity', at('family').value].concat(what).join('-'), sides: chosen,
                    title: 'Problems by FLOP per byte: ' + [family].concat(what.map(d.words)).join(', ')};
            })));
    }

    function shown(catalogue, families) {
        var some = chosen_families(families), name = 'operations-' + at('family').value;
        var operation = at('operation').value, precision = at('precision').value;
        var machine = catalogue.machines.find(function (each) { return each.name === at('machine').value; });
        var found = rows(some, operation, precision);
        d.mark_choice(at('machine'), machine);
        picture(found, catalogue.machines, found.length ? found[0].multiplied : precision, at('machine').value);
        d.table(at('problems'), {
            name: name,
            title: 'Problems of ' + at('family').selectedOptions[0].textContent,
            rows: found,
            cards: true,
            view: view,
            viewed: function (next, typing) {
                view = next;
                remember(typing);
            },
            taken: [{title: 'family', value: function (row) { return row.family; }}, d.same('operation', operation), d.same('precision', precision)],
            detail: function (row) {
                return el('div', {}, el('p', {}, row.title === row.id ? '' : row.id + '. ', row.source ? 'Source: ' + row.source + '. ' : '', row.note),
                    d.command_block('deepbench problems ' + row.id), d.command_block('deepbench time ' + row.id + ' --family ' + row.family));
            },
            columns: [
                {title: 'problem', long: true, value: function (row) { return row.id; }, cell: function (row) {
                    var name = row.at ? el('a', {href: 'timeline.html' + d.address(row.at)}, row.title) : row.title;
                    return el('span', {}, name, row.title === row.id ? [] : [el('br'), el('small', {}, row.id)]);
                }},
                {title: 'FLOPs', number: true, unit: 'FLOP', value: function (row) { return row.flops; },
                    text: function (value) { return d.scaled(value, 'FLOP'); }},
                {title: 'bytes', number: true, unit: 'B', value: function (row) { return row.bytes; },
                    text: function (value) { return d.scaled(value, 'B'); }},
                d.intensity_column(function (row) { return row.intensity; }),
                {title: 'bound by', head: machine ? 'bound by, on ' + machine_name(machine) : 'bound by', value: function (row) {
                    return bound(row, machine ? ridge(machine, row.multiplied) : null);
                }},
                {title: 'family', head: 'family', value: function (row) { return catalogue.headings[row.family]; }},
                {title: 'application', long: true, value: function (row) { return row.application; }},
                {title: 'sets', value: function (row) { return row.sets.map(d.words).join(', '); }}
            ].filter(function (column) { return column.title !== 'family' || some.length > 1; })
        });
        at('problems').querySelector('.tools').append(el('button', {type: 'button', click: function () {
            d.save(name + '.json', JSON.stringify(found.map(function (row) {
                return {family: row.family, id: row.id, title: row.title, operation: operation, precision: precision, flops: row.flops, bytes: row.bytes,
                    application: row.application, source: row.source, sets: row.sets};
            }), null, 1), 'application/json');
        }}, 'Download JSON'));
    }

    d.page(function (catalogue) {
        return d.load('data/operations').then(function (families) {
            var asked = d.asked();
            view = {sort: asked.get('sort') || '', find: asked.get('find') || ''};
            d.offer(at('family'), [[ALL, 'all families']].concat(families.map(function (each) { return [each.family, catalogue.headings[each.family]]; })),
                families[0].family, asked.get('family'));
            var having = catalogue.machines.filter(function (machine) { return machine.peaks.length; }).map(function (machine) { return [machine.name, machine.name]; });
            d.offer(at('machine'), having.length ? having : [['', 'none has peaks']], catalogue.here, asked.get('machine'));
            function chosen(wanted) {
                var some = chosen_families(families);
                d.offer(at('operation'), d.distinct(some.flatMap(function (family) { return family.operations; })), null, wanted.get('operation'));
                d.offer(at('precision'), d.distinct(some.flatMap(function (family) { return family.precisions; })), 'float32', wanted.get('precision'));
                shown(catalogue, families);
            }
            CHOICES.forEach(function (id) {
                at(id).onchange = function () {
                    view = {};
                    chosen(new URLSearchParams());
                    remember();
                };
            });
            chosen(asked);
        });
    });
})();
