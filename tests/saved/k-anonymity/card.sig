{
 "algorithm": "Ed25519",
 "public_key": "6f7a8d85c3cc9f31591db5144b57d9595816197cbb28fae9672e3d442eb0b01b",
 "signature": "83601caa5bd92a72aea88d89471b3b612aed90f3bac672c9db2fc21ac8d8a6f0abd7a2ecaca7adf830855280e35f11dd1df2ff68376782dda7253aafdb918f08"
}
