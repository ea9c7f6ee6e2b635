/* Facts about a machine apart from its times: hardware, peaks, and the software under its releases. */
'use strict';

(function () {
    var d = deepbench, el = d.el;

    function fact(pair) {
        var shown = d.fact_in_words(pair[0], pair[1]);
        return [el('dt', {}, shown[0]), el('dd', {}, shown[1])];
    }

    function facts(machine) {
        var shown = Object.assign({}, machine.entry, machine.facts);
        ['machine', 'version'].forEach(function (key) { delete shown[key]; });
        if (machine.submitted) { shown['results submitted'] = machine.submitted; }
        if (machine.surveyed) { shown['profile measured on'] = machine.surveyed; }
        if (!machine.peaks.length) { shown.profile = 'none, so there is no roofline'; }
        return Object.entries(shown).filter(function (pair) { return pair[1]; }).flatMap(fact);
    }

    function peaks(place, machine) {
        d.table(place, {
            name: 'peaks-' + machine.name,
            title: 'Peaks',
            rows: machine.peaks,
            taken: [{title: 'unit', value: function (row) { return row.unit; }}, d.same('machine', machine.name)],
            detail: function (row) {
                return row.how.startsWith('data sheet') ? el('p', {}, row.how) : d.command_block('deepbench machine');
            },
            columns: [
                {title: 'precision', value: function (row) { return row.of; }},
                {title: 'device', value: function (row) { return row.device; }},
                {title: 'peak', number: true, value: function (row) { return row.value; },
                    text: function (value, row) { return d.scaled(value, row.unit === 'FLOP/s' ? 'FLOP/s' : 'B/s'); }},
                {title: 'source', long: true, value: function (row) { return row.how; }}
            ]
        });
    }

    function profile(box, machine) {
        box.querySelector('dl').replaceChildren.apply(box.querySelector('dl'), facts(machine));
        peaks(box.querySelector('div.peaks'), machine);
    }

    /* Software and settings under a framework's newest release, and its changes with each release; read when the box is opened. */
    function software(box, catalogue, machine, framework) {
        box.hidden = !framework;
        box.querySelector('summary').textContent = 'Software and settings under the newest ' + framework + ', and new ones with each release';
        box.ontoggle = function () { if (box.open) { read(); } };
        if (box.open) { read(); }

        function read() {
            d.load('data/stacks/' + machine.key).then(function (stacks) {
                var stack = stacks[framework], list = box.querySelector('dl'), place = box.querySelector('div');
                if (!stack || !stack.facts) {
                    list.replaceChildren();
                    place.replaceChildren(el('p', {}, 'No software was recorded with these times.'));
                    return;
                }
                list.replaceChildren.apply(list, Object.entries(stack.facts).filter(function (pair) { return pair[1] !== ''; }).flatMap(fact));
                d.table(place, {
                    name: 'new-under-' + framework + '-' + machine.name,
                    title: 'New software with each release',
                    rows: stack.new.slice().reverse(),
                    columns: [
                        {title: 'release', value: function (row) { return catalogue.releases[row[0]].name; }},
                        {title: 'day', value: function (row) { return catalogue.releases[row[0]].date; }},
                        {title: 'new under it', head: 'new with it', long: true, value: function (row) { return row[1]; }}
                    ]
                });
            }).catch(function (reason) { box.querySelector('div').textContent = reason.message; });
        }
    }

    Object.assign(deepbench, {machine_profile: profile, machine_software: software});
})();
