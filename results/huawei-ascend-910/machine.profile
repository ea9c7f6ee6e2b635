{
 "version": 1,
 "machine": "huawei-ascend-910",
 "date": "2022-04-28",
 "facts": {
  "Day of publication": "2022-04-28: release of MindSpore 1.7.0 (mindspore-ascend), whose documentation holds the table",
  "Framework": "MindSpore 0.5.0-beta / MindSpore 0.6.0-beta",
  "Platform": "Atlas 800 / ModelArts",
  "CPU cores": "24"
 },
 "peaks": {
  "npu": {
   "float16": {
    "value": 256000000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: Huawei at the launch of the Ascend 910, 2019-08: 256 TFLOPS in FP16, 512 TOPS in INT8"
   },
   "int8": {
    "value": 512000000000000.0,
    "unit": "FLOP/s",
    "how": "data sheet: Huawei at the launch of the Ascend 910, 2019-08: 256 TFLOPS in FP16, 512 TOPS in INT8"
   }
  }
 },
 "bandwidth": {},
 "yardstick_version": "",
 "yardsticks": {},
 "checksum": "bc168076e458"
}
