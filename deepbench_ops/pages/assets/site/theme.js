/* Light or dark: what was chosen here before, else what the system asks for. Loaded in the head, so
   that a page never shows in the other one first. */
'use strict';

(function () {
    var KEY = 'deepbench-theme';
    var root = document.documentElement;

    function remembered() {
        try { return localStorage.getItem(KEY); } catch (refused) { return null; }
    }

    function remember(theme) {
        try { localStorage.setItem(KEY, theme); } catch (refused) { /* for this page alone, then */ }
    }

    var dark = matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = remembered() || (dark ? 'dark' : 'light');

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

        /* The address behind # holds what a page shows, so the way past the ways leaves it alone. */
        var skip = document.querySelector('.skip');  /* asv's pages have none */
        if (skip) {
            skip.addEventListener('click', function (event) {
                event.preventDefault();
                document.getElementById('main').focus();
            });
        }
    });
})();
