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
import { option } from "./option.ts";

const NO_NAMES: readonly string[] = [];
const ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "HS256"] as const;
const HTTP = "JSON-RPC over HTTP";
const WEBSOCKET = "JSON-RPC over WebSocket";
const GRAPHQL = "GraphQL over HTTP";
const methodType: ValueType<string> = {
  arity: "single",
  label: "<METHOD>",
  accepts: "names of JSON-RPC methods",
  offers: [...KNOWN_METHODS],
  read: (text) =>
    KNOWN_METHODS.has(text) ? ok(text) : bad(`options must be valid RPC methods, but '${text}' is none`),
  show: String,
};
const methodsType = listType(methodType, "<METHOD,...>");

const protocolsType = listType(
  {
    ...textType({ label: "<PROTOCOL>", accepts: "versions of TLS such as TLSv1.3" }),
    offers: ["TLSv1.3", "TLSv1.2"],
  },
  "<PROTOCOL,...>",
);

/** The options of a server for tokens and log-ins. */
function authentication<P extends "rpc-http" | "rpc-ws">(
  prefix: P,
  group: typeof HTTP | typeof WEBSOCKET,
  servers: readonly string[],
  help: string,
) {
  const requires = `${prefix}-authentication-enabled` as const;
  const ofTokens = { group, requires: `${prefix}-authentication-jwt-public-key-file` } as const;
  return {
    enabled: option({
      type: switchType,
      default: false,
      group,
      isMetBy: false,
      requires: servers,
      help,
    }),
    credentials: option({
      type: pathType,
      default: undefined,
      group,
      requires,
      help: "TOML file with the users who may log in for a token, their password hashes and permissions.",
    }),
    publicKey: option({
      type: pathType,
      default: undefined,
      group,
      requires,
      help: "Public key (PEM) of an external issuer of tokens. Nobody can then log in at the node.",
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
      help: "Audience (aud) that those tokens must name, where the issuer serves other audiences, too.",
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

const http = authentication(
  "rpc-http",
  HTTP,
  ["rpc-http-enabled", "graphql-http-enabled"],
  "Require a token (JWT) from callers, also over GraphQL.",
);
const webSocket = authentication(
  "rpc-ws",
  WEBSOCKET,
  ["rpc-ws-enabled"],
  "Require a token (JWT) from callers.",
);

const PROTOCOLS = ["TLSv1.3", "TLSv1.2"];

/** The options of a server for TLS. Besu has those of `rpc-http`, save the ones about PEM files. */
function encryption<P extends "rpc-http" | "rpc-ws" | "graphql-http">(
  prefix: P,
  group: typeof HTTP | typeof WEBSOCKET | typeof GRAPHQL,
) {
  const requires = `${prefix}-tls-enabled` as const;
  const file = (help: string, needs: string = requires) =>
    option({ type: pathType, default: undefined, group, requires: needs, help });
  const off = { type: switchType, default: false, group, isMetBy: false } as const;
  return {
    enabled: option({ ...off, requires: `${prefix}-enabled`, help: "Encrypt connections (TLS)." }),
    keystore: file("Private key and certificates in one file (PKCS#12)."),
    password: file("File whose first line is the password of the PKCS#12 file."),
    certificate: file("Certificates (PEM), the server's first, in place of a PKCS#12 file."),
    key: file("Private key (PEM) of the server's certificate."),
    clientAuth: option({ ...off, requires, help: "Require a certificate from clients." }),
    knownClients: file(
      "File of accepted clients: one common name and SHA-256 fingerprint per line.",
      `${prefix}-tls-client-auth-enabled`,
    ),
    caClients: option({
      ...off,
      requires: `${prefix}-tls-client-auth-enabled`,
      help: "Accept clients whose certificate is signed by a certificate authority.",
    }),
    clientsCa: file(
      "Certificates (PEM) of the authorities to trust, instead of all public ones.",
      `${prefix}-tls-ca-clients-enabled`,
    ),
    protocols: option({
      type: protocolsType,
      default: PROTOCOLS,
      group,
      requires,
      aliases: [`${prefix}-tls-protocols`],
      help: "Versions of TLS to offer.",
    }),
    cipherSuites: option({
      type: textListType,
      default: NO_NAMES,
      defaultText: "those of Node.js",
      group,
      requires,
      aliases: [`${prefix}-tls-cipher-suites`],
      help: "Cipher suites to offer.",
    }),
  };
}

const httpTls = encryption("rpc-http", HTTP);
const webSocketTls = encryption("rpc-ws", WEBSOCKET);
const graphQlTls = encryption("graphql-http", GRAPHQL);

export const RPC_SECURITY_OPTIONS = {
  "rpc-http-api-method-no-auth": http.openMethods,
  "rpc-http-authentication-enabled": http.enabled,
  "rpc-http-authentication-credentials-file": http.credentials,
  "rpc-http-authentication-jwt-public-key-file": http.publicKey,
  "rpc-http-authentication-jwt-algorithm": http.algorithm,
  "rpc-http-authentication-jwt-audience": http.audience,
  "rpc-http-tls-enabled": httpTls.enabled,
  "rpc-http-tls-keystore-file": httpTls.keystore,
  "rpc-http-tls-keystore-password-file": httpTls.password,
  "rpc-http-tls-certificate-file": httpTls.certificate,
  "rpc-http-tls-key-file": httpTls.key,
  "rpc-http-tls-client-auth-enabled": httpTls.clientAuth,
  "rpc-http-tls-known-clients-file": httpTls.knownClients,
  "rpc-http-tls-ca-clients-enabled": httpTls.caClients,
  "rpc-http-tls-clients-ca-file": httpTls.clientsCa,
  "rpc-http-tls-protocol": httpTls.protocols,
  "rpc-http-tls-cipher-suite": httpTls.cipherSuites,
  "rpc-ws-api-method-no-auth": webSocket.openMethods,
  "rpc-ws-authentication-enabled": webSocket.enabled,
  "rpc-ws-authentication-credentials-file": webSocket.credentials,
  "rpc-ws-authentication-jwt-public-key-file": webSocket.publicKey,
  "rpc-ws-authentication-jwt-algorithm": webSocket.algorithm,
  "rpc-ws-authentication-jwt-audience": webSocket.audience,
  "rpc-ws-tls-enabled": webSocketTls.enabled,
  "rpc-ws-tls-keystore-file": webSocketTls.keystore,
  "rpc-ws-tls-keystore-password-file": webSocketTls.password,
  "rpc-ws-tls-certificate-file": webSocketTls.certificate,
  "rpc-ws-tls-key-file": webSocketTls.key,
  "rpc-ws-tls-client-auth-enabled": webSocketTls.clientAuth,
  "rpc-ws-tls-known-clients-file": webSocketTls.knownClients,
  "rpc-ws-tls-ca-clients-enabled": webSocketTls.caClients,
  "rpc-ws-tls-clients-ca-file": webSocketTls.clientsCa,
  "rpc-ws-tls-protocol": webSocketTls.protocols,
  "rpc-ws-tls-cipher-suite": webSocketTls.cipherSuites,
  "graphql-http-tls-enabled": graphQlTls.enabled,
  "graphql-http-tls-keystore-file": graphQlTls.keystore,
  "graphql-http-tls-keystore-password-file": graphQlTls.password,
  "graphql-http-tls-certificate-file": graphQlTls.certificate,
  "graphql-http-tls-key-file": graphQlTls.key,
  "graphql-http-tls-client-auth-enabled": graphQlTls.clientAuth,
  "graphql-http-tls-known-clients-file": graphQlTls.knownClients,
  "graphql-http-tls-ca-clients-enabled": graphQlTls.caClients,
  "graphql-http-tls-clients-ca-file": graphQlTls.clientsCa,
  "graphql-http-tls-protocol": graphQlTls.protocols,
  "graphql-http-tls-cipher-suite": graphQlTls.cipherSuites,
} as const;
