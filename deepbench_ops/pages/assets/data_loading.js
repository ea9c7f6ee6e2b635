/* Data files, in a form that a page opened from a disk can read: it may not fetch JSON, but may load scripts. Each file is
   a script that holds one JSON text, gzipped and in base64. Pages from a server load the same files. */
'use strict';

// biome-ignore lint/correctness/noUnusedVariables: all other scripts use it
var deepbench = (function () {
    var asked = {};

    function unpack(packed) {
        var bytes = Uint8Array.from(atob(packed), function (c) { return c.charCodeAt(0); });
        var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
        return new Response(stream).json();
    }

    function failure(url, what) {
        return new Error('the data file ' + url + '.js is ' + what + ': publish the pages again');
    }

    /* The packed text that the file `url` + '.js' holds. */
    function read(url) {
        return new Promise(function (resolve, reject) {
            var script = document.createElement('script');
            script.receive = resolve;
            script.onload = function () {
                script.remove();
                reject(failure(url, 'damaged'));  /* without effect where the script has delivered its text */
            };
            script.onerror = function () {
                script.remove();
                reject(failure(url, 'missing'));
            };
            script.src = url + '.js';
            document.head.appendChild(script);
        });
    }

    /* The content of the file `url` + '.js'; a file is loaded once. */
    function load(url) {
        asked[url] = asked[url] || read(url).then(function (packed) {
            return Promise.resolve(packed).then(unpack).catch(function () { throw failure(url, 'damaged'); });
        });
        return asked[url];
    }

    return {
        load: load,
        receive: function (packed) { document.currentScript.receive(packed); }
    };
})();
