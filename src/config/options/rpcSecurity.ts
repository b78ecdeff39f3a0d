import { ok } from "../../primitives/result.ts";
import { KNOWN_METHODS } from "../../rpc/knownMethods.ts";
import {
  bad,
  choiceType,
  listType,
  pathType,
  switchType,
  textListType,
  textType,
  type ValueType,
} from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const NO_NAMES: readonly string[] = [];
const ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "HS256"] as const;
const HTTP = "JSON-RPC over HTTP";
const WEBSOCKET = "JSON-RPC over WebSocket";
const methodType: ValueType<string> = {
  arity: "single",
  label: "<METHOD>",
  accepts: "names of JSON-RPC methods",
  read: (text) =>
    KNOWN_METHODS.has(text) ? ok(text) : bad(`options must be valid RPC methods, but '${text}' is none`),
  show: String,
};
const methodsType = listType(methodType, "<METHOD,...>");

const protocolsType = listType(
  textType({ label: "<PROTOCOL>", accepts: "versions of TLS such as TLSv1.3" }),
  "<PROTOCOL,...>",
);

/** The options of a server for tokens and log-ins. */
function authentication<P extends "rpc-http" | "rpc-ws">(prefix: P, group: typeof HTTP | typeof WEBSOCKET) {
  const requires = `${prefix}-authentication-enabled` as const;
  const ofTokens = { group, requires: `${prefix}-authentication-jwt-public-key-file` } as const;
  return {
    enabled: option({
      type: switchType,
      default: false,
      group,
      isMetBy: false,
      requires: `${prefix}-enabled`,
      help: "Answer callers with a token only (JWT).",
    }),
    credentials: option({
      type: pathType,
      default: undefined,
      group,
      requires,
      help: "TOML file of the users that may log in for a token, with password hashes and permissions.",
    }),
    publicKey: option({
      type: pathType,
      default: undefined,
      group,
      requires,
      help: "Public key (PEM) of the issuer of tokens, where they come from elsewhere. Nobody can log in then.",
    }),
    algorithm: option({
      type: choiceType(ALGORITHMS),
      default: "RS256",
      ...ofTokens,
      help: "Signature algorithm of those tokens.",
    }),
    audience: option({
      type: textType({ label: "<AUDIENCE>", accepts: "the audience that tokens must name" }),
      default: undefined,
      ...ofTokens,
      help: "Audience that those tokens must name (aud), for an issuer that has others.",
    }),
    openMethods: option({
      type: methodsType,
      default: NO_NAMES,
      defaultText: "none",
      group,
      requires,
      aliases: [`${prefix}-api-methods-no-auth`],
      help: "Methods that need no token.",
    }),
  };
}

const http = authentication("rpc-http", HTTP);
const webSocket = authentication("rpc-ws", WEBSOCKET);

const tls = withoutEffect({
  group: HTTP,
  noEffect: "this version has no TLS",
  requires: "rpc-http-tls-enabled",
});
const securitySwitch = { type: switchType, default: false, group: HTTP, isHidden: true } as const;

export const RPC_SECURITY_OPTIONS = {
  "rpc-http-api-method-no-auth": http.openMethods,
  "rpc-http-authentication-enabled": http.enabled,
  "rpc-http-authentication-credentials-file": http.credentials,
  "rpc-http-authentication-jwt-public-key-file": http.publicKey,
  "rpc-http-authentication-jwt-algorithm": http.algorithm,
  "rpc-http-authentication-jwt-audience": http.audience,
  "rpc-http-tls-enabled": option({
    ...securitySwitch,
    requires: "rpc-http-enabled",
    refusedWhenOn: "this version has no TLS; put a TLS proxy in front",
    help: "Serve JSON-RPC over TLS.",
  }),
  "rpc-http-tls-keystore-file": tls.optional(pathType, "Key store (PKCS#12)."),
  "rpc-http-tls-keystore-password-file": tls.optional(pathType, "Password of the key store."),
  "rpc-http-tls-client-auth-enabled": option({
    ...securitySwitch,
    requires: "rpc-http-enabled",
    refusedWhenOn: "this version cannot require client certificates; put a TLS proxy in front",
    help: "Require client certificates.",
  }),
  "rpc-http-tls-known-clients-file": tls.optional(
    pathType,
    "Names and certificate fingerprints of accepted clients.",
    {
      requires: "rpc-http-tls-client-auth-enabled",
    },
  ),
  "rpc-http-tls-ca-clients-enabled": tls.switched(
    false,
    "Accept client certificates signed by a certificate authority.",
    {
      requires: "rpc-http-tls-client-auth-enabled",
    },
  ),
  "rpc-http-tls-protocol": tls.valued(protocolsType, ["TLSv1.3", "TLSv1.2"], "Versions of TLS to offer.", {
    aliases: ["rpc-http-tls-protocols"],
  }),
  "rpc-http-tls-cipher-suite": tls.valued(textListType, NO_NAMES, "Cipher suites to offer.", {
    aliases: ["rpc-http-tls-cipher-suites"],
    defaultText: "those of the system",
  }),
  "rpc-ws-api-method-no-auth": webSocket.openMethods,
  "rpc-ws-authentication-enabled": webSocket.enabled,
  "rpc-ws-authentication-credentials-file": webSocket.credentials,
  "rpc-ws-authentication-jwt-public-key-file": webSocket.publicKey,
  "rpc-ws-authentication-jwt-algorithm": webSocket.algorithm,
  "rpc-ws-authentication-jwt-audience": webSocket.audience,
} as const;
