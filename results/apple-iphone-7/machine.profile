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
 "peaks": {},
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {}
}
