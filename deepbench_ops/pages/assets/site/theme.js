/* The light or dark theme: the user's last choice, else the system's setting. Loaded in the head, so that a page is
   never shown in the other theme first. */
'use strict';

(function () {
    var KEY = 'deepbench-theme';
    var root = document.documentElement;

    function remembered() {
        try { return localStorage.getItem(KEY); } catch { return null; }
    }

    function remember(theme) {
        try { localStorage.setItem(KEY, theme); } catch { /* the choice then holds for this page only */ }
    }

    var dark = matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = remembered() || (dark ? 'dark' : 'light');

    /* Paper is white. */
    var shown = root.dataset.theme;
    window.addEventListener('beforeprint', function () {
        shown = root.dataset.theme;
        root.dataset.theme = 'light';
    });
    window.addEventListener('afterprint', function () { root.dataset.theme = shown; });

    document.addEventListener('DOMContentLoaded', function () {
        var button = document.getElementById('theme');
        function name_other() {
            button.textContent = root.dataset.theme === 'dark' ? 'Light' : 'Dark';
            button.setAttribute('aria-label', 'Change to the ' + button.textContent.toLowerCase() + ' theme');
        }
        button.hidden = false;
        button.addEventListener('click', function () {
            root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
            remember(root.dataset.theme);
            name_other();
            document.dispatchEvent(new Event('deepbench-theme'));
        });
        name_other();

        /* The part of the address after # holds the view of a page, so the skip link must not change it. */
        var skip = document.querySelector('.skip');  /* asv's pages have no skip link */
        if (skip) {
            skip.addEventListener('click', function (event) {
                event.preventDefault();
                document.getElementById('main').focus();
            });
        }
    });
})();
