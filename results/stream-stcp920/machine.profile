{
 "version": 1,
 "machine": "stream-stcp920",
 "date": "2022-02-24",
 "facts": {
  "Day of publication": "2022-02-24: the day that the document bears",
  "Framework": "keras_tf / pytorch / tensorflow"
 },
 "peaks": {
  "npu": {
   "float32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "data sheet: no figure published: no data sheet of the STCP920 could be sourced"
   }
  }
 },
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "e537465fa90a"
}
