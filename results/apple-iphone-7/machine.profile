{
 "version": 1,
 "machine": "apple-iphone-7",
 "date": "2017-07-14",
 "facts": {
  "CPU": "Apple A10 quad core 2.3GHz (ARM v8)",
  "OS": "iOS 10.3.1",
  "Eigen Version": "3.3.3",
  "Gemmlowp version": "Latest code from github repo"
 },
 "peaks": {
  "cpu": {
   "float32": {
    "value": null,
    "unit": "FLOP/s",
    "how": "data sheet: no figure published: Apple names no FLOPS of the A10's cores"
   }
  }
 },
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "06291472d6b4"
}
