{
 "version": 1,
 "machine": "qingcloud-cpu-16core-broadwell",
 "date": "2018-03-29",
 "facts": {
  "Day of publication": "2018-03-29: not before the release of TensorFlow 1.7.0; the page bears no day",
  "Framework": "TensorFlow 1.7.0",
  "Conditions": "CPU (MKL build), 16 cores (Broadwell)"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "data sheet: no figure published: the page names neither model nor clock"
   }
  }
 },
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "3f894671ac5d"
}
