{
 "version": 1,
 "machine": "apple-iphone-6",
 "date": "2017-07-14",
 "facts": {
  "CPU": "Apple A8 dual core 1.4GHz (ARM v8)",
  "OS": "iOS 10.3.1",
  "Eigen Version": "3.3.3",
  "Gemmlowp version": "Latest code from github"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "data sheet: no figure published: Apple names no FLOPS of the A8's cores"
   }
  }
 },
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "54c58d9ea412"
}
