// Loaded into Node for Windows when the tests run under Wine. Wine 8 has no TCP_KEEPIDLE, so a connection that asks for TCP
// keep-alive fails. HTTP keep-alive is not affected.
"use strict";

const http = require("node:http");
const https = require("node:https");
const net = require("node:net");

for (const { Agent } of [http, https]) {
  const { createConnection } = Agent.prototype;
  Agent.prototype.createConnection = function (options, ...rest) {
    return createConnection.call(this, { ...options, keepAlive: false }, ...rest);
  };
}
net.Socket.prototype.setKeepAlive = function () {
  return this;
};
