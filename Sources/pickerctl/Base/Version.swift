/// The version that `--version`, `hello` and the man page show.
let pickerctlVersion = "0.1.0"
