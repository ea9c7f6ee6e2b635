{
 "version": 1,
 "machine": "stream-stcp920",
 "date": "2022-02-24",
 "facts": {},
 "peaks": {},
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {}
}
