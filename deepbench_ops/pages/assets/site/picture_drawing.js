/* Draws a picture that is saved: a part of a page as SVG without HTML, which other programs read as well, or as PNG. A heading has
   the title, the compared sides, the day of the results and the address of the page, since the picture is shown without it.
   saved_pictures.js loads this script when it is needed. */
'use strict';

(function () {
    var d = deepbench, el = d.el, svg = d.svg;
    var LEFT_OUT = 'select, input, .tools, .save, .about, .open, .status, .tip, .more';
    var PAINT = ['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'paint-order', 'stroke-dasharray', 'opacity', 'font-size', 'font-weight', 'text-anchor'];
    var SIDES = ['top', 'right', 'bottom', 'left'];
    var FONT = 'system-ui, sans-serif';
    var LETTER = 7, LINE = 19, MARGIN = 14, NARROWEST = 480;  /* pixels */

    /* A computed colour in a form that all programs read; '' where it is transparent. */
    function colour(text) {
        var parts = /^color\(srgb (\S+) (\S+) (\S+)( \/ (\S+))?\)/.exec(text);
        if (parts) { text = 'rgb(' + [1, 2, 3].map(function (at) { return Math.round(255 * parts[at]); }).join(', ') + ')'; }
        return text === 'transparent' || /^rgba\(.*, 0\)$/.test(text) || parts && parts[5] === '0' ? '' : text;
    }

    /* Background and borders of an element. */
    function box(style, place, corner) {
        var sides = SIDES.filter(function (side) {
            return parseFloat(style['border-' + side + '-width']) > 0 && style['border-' + side + '-style'] !== 'none' && colour(style['border-' + side + '-color']);
        });
        var fill = colour(style.backgroundColor), around = sides.length === 4, found = [];
        var x = place.left - corner.x, y = place.top - corner.y, right = x + place.width, bottom = y + place.height;
        if (fill || around) {
            found.push(svg('rect', {x: x, y: y, width: place.width, height: place.height, rx: Math.min(parseFloat(style.borderTopLeftRadius) || 0, place.height / 2),
                fill: fill || 'none', stroke: around ? colour(style.borderTopColor) : 'none', 'stroke-dasharray': style.borderTopStyle === 'dashed' ? '4 3' : 'none',
                'stroke-width': parseFloat(style.borderTopWidth), opacity: style.opacity}));
        }
        return found.concat(around ? [] : sides.map(function (side) {
            var ends = {top: [x, y, right, y], right: [right, y, right, bottom], bottom: [x, bottom, right, bottom], left: [x, y, x, bottom]}[side];
            return svg('line', {x1: ends[0], y1: ends[1], x2: ends[2], y2: ends[3], stroke: colour(style['border-' + side + '-color']), 'stroke-width': parseFloat(style['border-' + side + '-width'])});
        }));
    }

    /* The lines that a text is broken into, each {text, place}. A word that is broken itself is read letter by letter. */
    function lines(node) {
        var range = document.createRange(), found = [];
        function read(from, to, text) {
            range.setStart(node, from);
            range.setEnd(node, to);
            var places = range.getClientRects();
            if (places.length > 1 && to - from > 1) {
                Array.from(text).reduce(function (at, letter) { read(at, at + letter.length, letter); return at + letter.length; }, from);
            } else if (places.length && places[0].width) {
                add(text, places[0], /\s/.test(node.data[from - 1] || '') ? ' ' : '');
            }
        }
        function add(text, place, blank) {
            var last = found[found.length - 1];
            if (last && Math.abs(last.top - place.top) < 2) {
                last.text += blank + text;
                last.right = place.right;
            } else {
                found.push({text: text, left: place.left, right: place.right, top: place.top, bottom: place.bottom});
            }
        }
        for (var word of node.data.matchAll(/\S+/g)) { read(word.index, word.index + word[0].length, word[0]); }
        return found;
    }

    function texts(node, style, corner) {
        var size = parseFloat(style.fontSize);
        return lines(node).map(function (line) {
            return svg('text', {x: line.left - corner.x, y: (line.top + line.bottom) / 2 - corner.y + 0.35 * size, textLength: line.right - line.left,
                lengthAdjust: 'spacingAndGlyphs', 'font-size': size, 'font-weight': style.fontWeight, fill: colour(style.color)}, line.text);
        });
    }

    /* A copy of an SVG element that needs no style sheet. */
    function drawing(node, place, corner) {
        var copy = node.cloneNode(true), own = node.querySelectorAll('*');
        copy.querySelectorAll('*').forEach(function (part, at) {
            var style = getComputedStyle(own[at]);
            PAINT.forEach(function (name) { part.setAttribute(name, colour(style.getPropertyValue(name)) || 'none'); });
            part.removeAttribute('class');
        });
        var inside = {x: place.left - corner.x, y: place.top - corner.y, width: place.width, height: place.height, overflow: 'visible'};
        Object.entries(inside).forEach(function (pair) { copy.setAttribute(pair[0], pair[1]); });
        ['class', 'style', 'role', 'aria-label', 'aria-hidden'].forEach(function (name) { copy.removeAttribute(name); });
        return copy;
    }

    /* All that an element shows, as SVG elements in the order of painting. */
    function parts(node, corner) {
        if (node.nodeType === Node.TEXT_NODE) { return texts(node, getComputedStyle(node.parentNode), corner); }
        if (node.nodeType !== Node.ELEMENT_NODE || node.matches(LEFT_OUT)) { return []; }
        var style = getComputedStyle(node), place = node.getBoundingClientRect();
        if (style.display === 'none' || style.visibility === 'hidden') { return []; }
        if (node.namespaceURI === 'http://www.w3.org/2000/svg') { return [drawing(node, place, corner)]; }
        return box(style, place, corner).concat(Array.from(node.childNodes).flatMap(function (child) { return parts(child, corner); }));
    }

    /* `text` as lines of at most `width` pixels, broken at blanks, and within words that are longer. */
    function wrapped(text, width) {
        var most = Math.floor(width / LETTER);
        var words = text.split(' ').flatMap(function (word) { return word.match(new RegExp('.{1,' + most + '}', 'gu')) || []; });
        return words.reduce(function (found, word) {
            var longer = (found[found.length - 1] + ' ' + word).trim();
            return longer.length <= most ? found.slice(0, -1).concat(longer) : found.concat(word);
        }, ['']).filter(Boolean);
    }

    /* A picture of `node` as {svg, width, height}; `about` has `title` and `sides`. */
    function picture(node, about) {
        var place = node.getBoundingClientRect(), style = getComputedStyle(document.body);
        var wide = Math.max(NARROWEST, place.width, node.scrollWidth), most = wide;
        var heads = wrapped(about.title, 0.9 * most).map(function (text) { return {text: text, weight: 600}; })
            .concat([about.sides, d.origin()].filter(Boolean).flatMap(function (text) { return wrapped(text, most); })
                .map(function (text) { return {text: text, weight: 400}; }));
        var top = MARGIN + LINE * heads.length + 8, width = wide + 2 * MARGIN, height = top + Math.max(place.height, node.scrollHeight) + MARGIN;
        return {width: width, height: height, svg: svg('svg', {xmlns: 'http://www.w3.org/2000/svg', viewBox: [0, 0, width, height].join(' '), width: width, height: height, 'font-family': FONT},
            svg('title', {}, about.title),
            svg('rect', {width: width, height: height, fill: colour(style.backgroundColor)}),
            heads.map(function (line, at) {
                return svg('text', {x: MARGIN, y: MARGIN + LINE * at + 13, 'font-size': 13, 'font-weight': line.weight, fill: colour(style.color)}, line.text);
            }),
            parts(node, {x: place.left - MARGIN, y: place.top - top}))};
    }

    function png(found, text) {
        var image = new Image(), canvas = el('canvas', {width: 2 * found.width, height: 2 * found.height});
        image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
        return image.decode().then(function () {
            canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
            return new Promise(function (resolve, reject) {
                canvas.toBlob(function (blob) { return blob ? resolve(blob) : reject(new Error('the picture is too large')); }, 'image/png');
            });
        });
    }

    /* The picture of `node` as a promise of a blob in the format 'png' or 'svg'; `about` has `title` and `sides`. */
    deepbench.drawn_picture = function (node, about, format) {
        return new Promise(function (resolve) {
            var found = picture(node, about), text = new XMLSerializer().serializeToString(found.svg);
            resolve(format === 'svg' ? new Blob([text], {type: 'image/svg+xml'}) : png(found, text));
        });
    };
})();
