/* Filter and order of the tables that are in the page already, in the address: find and sort, with the place of the table behind a
   dash from the second on. */
'use strict';

(function () {
    var d = deepbench, views = [];

    function key(name, place) { return place ? name + '-' + place : name; }

    function remember(typing) {
        var wanted = {};
        views.forEach(function (view, place) {
            wanted[key('find', place)] = view.find;
            wanted[key('sort', place)] = view.sort;
        });
        d.remember(wanted, typing);
    }

    function show() {
        var asked = d.asked();
        views = d.adopted.map(function (shown, place) {
            var view = {find: asked.get(key('find', place)) || '', sort: asked.get(key('sort', place)) || ''};
            shown(view, function (next, typing) {
                views[place] = next;
                remember(typing);
            });
            return view;
        });
    }

    window.addEventListener('popstate', show);
    show();
})();
