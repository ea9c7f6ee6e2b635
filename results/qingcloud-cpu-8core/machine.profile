{
 "version": 1,
 "machine": "qingcloud-cpu-8core",
 "date": "2018-03-29",
 "facts": {
  "Day of publication": "2018-03-29: not before the release of TensorFlow 1.7.0; the page bears no day",
  "Framework": "TensorFlow 1.7.0",
  "Conditions": "CPU (unoptimized build), 8 cores (default)"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "data sheet: no figure published: the page names no kind of processor"
   }
  }
 },
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "3bfa1ec3aac7"
}
