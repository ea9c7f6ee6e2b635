/* Buttons that save a picture. The script that draws it is loaded at the first click. */
'use strict';

(function () {
    var d = deepbench, el = d.el;

    /* Save the picture of `node` as 'png' or 'svg'. Returns a promise of whether it could be saved. */
    function save_picture(node, about, format) {
        return d.script('site/picture_drawing.js').then(function () { return d.drawn_picture(node, about, format); }).then(function (blob) {
            d.save(about.name + '.' + format, blob, blob.type);
            return true;
        }).catch(function () { return false; });
    }

    /* Two buttons that save the picture of `node()`; `about()` is {name, title, sides}. */
    function buttons(node, about) {
        return ['png', 'svg'].map(function (format) {
            return d.outcome_button('Download ' + format.toUpperCase(), 'Saved', function () { return save_picture(node(), about(), format); });
        });
    }

    /* The same behind a mark, for headings of small pictures. */
    function mark(node, about) {
        return el('details', {class: 'about save'}, el('summary', {'aria-label': 'Save this picture', title: 'Save this picture'}, '\u2913'), el('p', {}, buttons(node, about)));
    }

    Object.assign(deepbench, {picture_buttons: buttons, picture_mark: mark});
})();
