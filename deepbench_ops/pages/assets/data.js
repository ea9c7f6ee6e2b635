/* Data files, in a form that a page opened from a disk can read: it may not fetch JSON, but may load scripts. Each file is
   a script that holds one JSON text, gzipped and in base64. Pages from a server load the same files. */
'use strict';

var deepbench = (function () {
    var asked = {};

    function unpack(packed) {
        var bytes = Uint8Array.from(atob(packed), function (c) { return c.charCodeAt(0); });
        var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
        return new Response(stream).json();
    }

    /* The content of the file `url` + '.js'; a file is loaded once. */
    function load(url) {
        asked[url] = asked[url] || new Promise(function (resolve, reject) {
            var script = document.createElement('script');
            script.receive = resolve;
            script.onload = function () { script.remove(); };
            script.onerror = function () { script.remove(); reject(new Error('the data file ' + url + '.js is missing: publish the pages again')); };
            script.src = url + '.js';
            document.head.appendChild(script);
        }).then(unpack);
        return asked[url];
    }

    return {
        load: load,
        receive: function (packed) { document.currentScript.receive(packed); }
    };
})();
