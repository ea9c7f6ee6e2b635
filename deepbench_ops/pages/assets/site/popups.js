/* Menus and explanations that open over a page: they stay inside the window, and Escape or a click elsewhere closes them. */
'use strict';

(function () {
    var POPUPS = '.chip-line details, details.about', EDGE = 8;

    function open_ones() { return Array.from(document.querySelectorAll(POPUPS)).filter(function (each) { return each.open; }); }

    /* Move the content of an open one sideways, as far as it lies outside of the window. */
    function moved_inside(popup) {
        var content = popup.lastElementChild;
        content.style.translate = '';
        var box = content.getBoundingClientRect(), width = document.documentElement.clientWidth;
        content.style.translate = Math.max(EDGE - box.left, Math.min(0, width - EDGE - box.right)) + 'px 0';
    }

    document.addEventListener('toggle', function (event) {
        if (event.target.matches(POPUPS) && event.target.open) { moved_inside(event.target); }
    }, true);

    document.addEventListener('pointerdown', function (event) {
        open_ones().forEach(function (popup) { popup.open = popup.contains(event.target); });
    });

    document.addEventListener('keydown', function (event) {
        if (event.key !== 'Escape') { return; }
        open_ones().forEach(function (popup) {
            var inside = popup.contains(document.activeElement);
            popup.open = false;
            if (inside) { popup.querySelector('summary').focus(); }
        });
    });
})();
