/* The nodes of a machine type compared: a heat table of nodes and families, and the kernels of the selected node. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };
    var NAMED = 5;  /* incomplete nodes in the summary; the table has all */
    var COMMANDS = ['deepbench fleet plan nodes/plan.json --every-node --system SITE', 'deepbench fleet run nodes/plan.json', 'asv publish'];

    /* The explanation where no nodes can be compared, with the commands that measure them. */
    function empty(nodes) {
        var few = nodes.types.map(function (type) { return type.machine + ': ' + d.counted(type.measured, 'node'); });
        at('content').replaceChildren(el('div', {}, el('p', {class: 'lead'}, few.length
            ? 'No nodes can be compared: a machine type needs ' + nodes.fewest + ' nodes that measured the same kernels. Measured so far: ' + few.join(', ') + '.'
            : 'No results of several nodes exist yet. A plan that every node of a machine type runs makes them:'),
        COMMANDS.map(function (text) { return d.command_block(text); })));
    }

    /* The slowest node whose difference is certain, else the first. */
    function first_node(type) {
        function slowest(node) {
            return Math.max.apply(null, [0].concat(Object.values(node.levels).filter(function (own) { return own.kind === 'slow'; }).map(function (own) { return own.ratio; })));
        }
        return type.nodes.slice().sort(function (a, b) { return slowest(b) - slowest(a); })[0].node;
    }

    /* Sentence that names the nodes without kernels that most nodes have, "" for none. */
    function incomplete(type) {
        var own = type.nodes.filter(function (node) { return node.levels.all.missing; });
        var named = own.slice(0, NAMED).map(function (node) { return node.node + ' measured ' + d.measured_kernels(node.levels.all) + ' kernels'; });
        return own.length ? named.join(', ') + (own.length > NAMED ? ', and ' + (own.length - NAMED) + ' more are incomplete' : '') + '. ' : '';
    }

    function summary(type, nodes) {
        var slow = type.nodes.filter(function (node) { return Object.values(node.levels).some(function (own) { return own.kind === 'slow'; }); });
        return (slow.length ? slow.length + ' of ' + d.counted(type.nodes.length, 'node') + (slow.length === 1 ? ' is' : ' are') + ' slow: ' +
            slow.map(function (node) { return node.node; }).join(', ') : 'None of ' + d.counted(type.nodes.length, 'node') + ' is slow') +
            '. A node is slow at a family if its interval lies more than ' + d.percent(nodes.beyond) + ' above the median of the nodes. ' + incomplete(type) +
            d.counted(type.surveys, 'survey') + ' read; the newest one is shown.';
    }

    d.page(function (catalogue) {
        return d.load('data/nodes').then(function (nodes) {
            var types = nodes.types.filter(function (type) { return type.nodes.length; });
            if (!types.length) { return empty(nodes); }
            var asked = d.asked(), heat = view('sort', 'find'), list = view('kernel-sort', 'kernel-find');
            d.offer(at('machine'), types.map(function (type) { return [type.machine, type.machine]; }), null, asked.get('machine'));
            at('machine').onchange = function () { heat = {}; list = {}; return type_chosen('', true); };
            at('node').onchange = function () { list = {}; return node_chosen(true); };
            return type_chosen(asked.get('node'), false);

            function view(sort, find) { return {sort: asked.get(sort) || '', find: asked.get(find) || ''}; }
            function type() { return types.find(function (each) { return each.machine === at('machine').value; }); }

            function remember(typing) {
                d.remember({machine: at('machine').value, node: at('node').value, sort: heat.sort, find: heat.find, 'kernel-sort': list.sort, 'kernel-find': list.find}, typing);
            }

            function type_chosen(node, changed) {
                at('node').replaceChildren();
                d.offer(at('node'), type().nodes.map(function (each) { return [each.node, each.node]; }), first_node(type()), node);
                at('summary').textContent = summary(type(), nodes);
                d.node_heat(at('heat'), {type: type(), catalogue: catalogue, chosen: function () { return at('node').value; }, view: heat,
                    choose: function (name) { at('node').value = name; list = {}; return node_chosen(true); },
                    viewed: function (next, typing) { heat = next; remember(typing); }});
                return node_chosen(changed);
            }

            function node_chosen(changed) {
                var own = type(), node = at('node').value, number = own.nodes.findIndex(function (each) { return each.node === node; });
                document.querySelectorAll('#heat [data-node]').forEach(function (button) { button.setAttribute('aria-pressed', String(button.dataset.node === node)); });
                at('kernels-title').textContent = 'Kernels of ' + node;
                if (changed) { remember(); }
                return d.answer(d.load('data/nodes/' + own.key + '/' + number), function (rows) {
                    d.node_kernels(at('kernels'), {name: 'kernels-' + own.machine + '-' + node, catalogue: catalogue, view: list,
                        rows: rows.slice().sort(function (a, b) { return b.ratio - a.ratio; }),
                        viewed: function (next, typing) { list = next; remember(typing); }});
                });
            }
        });
    });
})();
