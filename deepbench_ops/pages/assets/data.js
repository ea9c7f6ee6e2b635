/* Data that a page opened from a disk may read. It may not fetch JSON, but may load scripts: each
   hands over one text, gzipped, and base64 to be a script. Servers are asked for the same files. */
'use strict';

var deepbench = (function () {
    var asked = {};

    function unpack(packed) {
        var bytes = Uint8Array.from(atob(packed), function (c) { return c.charCodeAt(0); });
        var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
        return new Response(stream).json();
    }

    /* What the file `url` + '.js' carries; a file is read once. */
    function load(url) {
        asked[url] = asked[url] || new Promise(function (resolve, reject) {
            var script = document.createElement('script');
            script.receive = resolve;
            script.onload = function () { script.remove(); };
            script.onerror = function () { script.remove(); reject(new Error(url)); };
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
