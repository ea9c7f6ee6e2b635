{
 "version": 1,
 "machine": "qingcloud-gpu",
 "date": "2018-03-29",
 "facts": {
  "Day of publication": "2018-03-29: not before the release of TensorFlow 1.7.0; the page bears no day",
  "Framework": "TensorFlow 1.7.0",
  "Conditions": "CUDA 9.1, 8 cores (default)"
 },
 "peaks": {
  "cuda": {
   "float32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "data sheet: no figure published: the page names no kind of GPU"
   }
  }
 },
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "fe7480db7aa9"
}
