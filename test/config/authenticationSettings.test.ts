import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems, write, folder } = settingsIn("ibex-access-");
const HTTP = [DEV_GENESIS, "--rpc-http-enabled", "--rpc-http-authentication-enabled"];
const HASH = hashSync("secret", 4);
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

function pem(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }).toString();
}

const KEY = write("key.pem", pem(rsa.publicKey));

function withUsers(text: string): readonly string[] {
  return [...HTTP, `--rpc-http-authentication-credentials-file=${write("users.toml", text)}`];
}

function user(lines: string, name = "alice"): string {
  return `[Users.${name}]\n${lines}\n`;
}

describe("the users of a server", () => {
  it("are read from the file, with what Besu has and what it ignores", () => {
    const text =
      user(`password = "${HASH}"\npermissions = ["eth:*", "net:version"]\nprivacyPublicKey = "A1a="`) +
      user(`password = "${HASH.replace("$2b$", "$2y$")}"\ngroups = ["a"]\nroles = ["b"]`, "'bob smith'");
    const { http, webSocket, warnings } = settings({
      args: [...withUsers(text), "--rpc-http-api-methods-no-auth=net_version"],
    });
    expect(http?.authentication).toEqual({
      users: [
        { name: "alice", passwordHash: HASH, permissions: ["eth:*", "net:version"] },
        { name: "bob smith", passwordHash: HASH.replace("$2b$", "$2y$"), permissions: [] },
      ],
      issuer: undefined,
      openMethods: ["net_version"],
    });
    expect(webSocket).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it("are those of WebSocket by options of their own", () => {
    const file = write("ws.toml", user(`password = "${HASH}"`));
    const args = ["--rpc-ws-enabled", "--rpc-ws-authentication-enabled"];
    const { http, webSocket } = settings({
      args: [DEV_GENESIS, ...args, `--rpc-ws-authentication-credentials-file=${file}`],
    });
    expect(http).toBeUndefined();
    expect(webSocket?.authentication?.users).toHaveLength(1);
  });

  it("are those of GraphQL, too, also where HTTP is off", () => {
    const text = user(`password = "${HASH}"\npermissions = ["eth:graphql"]`);
    const both = settings({ args: [...withUsers(text), "--graphql-http-enabled"] });
    expect(both.graphQl?.authentication).toEqual(both.http?.authentication);
    expect(both.graphQl?.authentication?.users).toHaveLength(1);
    const args = withUsers(text).filter((arg) => arg !== "--rpc-http-enabled");
    const alone = settings({ args: [...args, "--graphql-http-enabled"] });
    expect(alone.http).toBeUndefined();
    expect(alone.graphQl?.authentication).toEqual(both.http?.authentication);
    expect([both.warnings, alone.warnings]).toEqual([[], []]);
  });

  it("with permissions that allow nothing are warned of, once", () => {
    const text = user(`password = "${HASH}"\npermissions = ["eth:*", "eth:blockNumbr", "fakePermission"]`);
    expect(settings({ args: withUsers(text) }).warnings).toEqual([
      "Permissions in users.toml that allow no method: eth:blockNumbr, fakePermission.",
    ]);
  });

  it("may have names with dots, in one table or several", () => {
    const text = ["a", "a.b", '"c.d"', "e.f.g"]
      .map((name) => `[Users.${name}]\npassword = "${HASH}"\n`)
      .join("");
    expect(settings({ args: withUsers(text) }).http?.authentication?.users?.map(({ name }) => name)).toEqual([
      "a",
      "a.b",
      "c.d",
      "e.f.g",
    ]);
    const deep = `[Users${".a".repeat(100_000)}]\npassword = "${HASH}"\n`;
    expect(problems({ args: withUsers(deep) })).toEqual([
      expect.stringContaining("a name has more than 256 characters"),
    ]);
  });

  it.each([
    [
      "one user twice",
      `[Users.a.b]\npassword = "${HASH}"\n[Users."a.b"]\npassword = "${HASH}"`,
      "'a.b' is there twice",
    ],
    ["no user", "", "it has no users: each is a table such as [Users.alice]"],
    ["no table", "Users = 5", "it has no users: each is a table such as [Users.alice]"],
    ["no TOML", "[Users", "line 1 is not TOML"],
    ["no password", user('permissions = ["eth:*"]'), "RPC user specified without password: 'alice' has none"],
    [
      "a plain password",
      user('password = "secret"'),
      "the password of 'alice' is not a bcrypt hash, as 'password hash' prints it",
    ],
    [
      "a hash that takes hours",
      user(`password = "${HASH.replace("$04$", "$31$")}"`),
      "the password of 'alice' has 31 rounds of bcrypt; accepted: 4 to 14",
    ],
    [
      "a hash without rounds",
      user(`password = "${HASH.replace("$04$", "$00$")}"`),
      "the password of 'alice' has 00 rounds of bcrypt; accepted: 4 to 14",
    ],
    [
      "permissions in one text",
      user(`password = "${HASH}"\npermissions = "eth:*"`),
      "the permissions of 'alice' are not a list of texts",
    ],
    [
      "permissions that no token has room for",
      user(`password = "${HASH}"\npermissions = ${JSON.stringify(Array(180).fill(`eth:${"x".repeat(32)}`))}`),
      "the permissions of 'alice' have 7029 bytes with the name, more than the 5769 that fit into a token",
    ],
  ])("stop the start: %s", (_what, text, reason) => {
    expect(problems({ args: withUsers(text) })).toEqual([
      `Invalid RPC HTTP authentication credentials file: ${join(folder, "users.toml")}: ${reason} (--rpc-http-authentication-credentials-file is given on the command line)`,
    ]);
  });

  it("stop the start when their file is absent, or none is named, which is said once for both servers", () => {
    expect(problems({ args: [...HTTP, "--graphql-http-enabled"] })).toHaveLength(1);
    expect(problems({ args: [...HTTP, "--rpc-http-authentication-credentials-file=absent"] })).toEqual([
      `The specified RPC HTTP authentication credential file '${join(folder, "absent")}' does not exist (--rpc-http-authentication-credentials-file is given on the command line)`,
    ]);
    expect(problems({ args: HTTP })).toEqual([
      "Unable to authenticate JSON-RPC HTTP endpoint without a supplied credentials file or authentication public key file (--rpc-http-authentication-enabled is given on the command line)",
    ]);
  });
});

describe("the issuer of tokens", () => {
  const withKey = (file: string, ...more: readonly string[]): readonly string[] => [
    ...HTTP,
    `--rpc-http-authentication-jwt-public-key-file=${file}`,
    ...more,
  ];

  it("is known by a public key, an algorithm and an audience", () => {
    const more = [
      "--rpc-http-authentication-jwt-algorithm=RS512",
      "--rpc-http-authentication-jwt-audience=me",
    ];
    expect(settings({ args: withKey(KEY, ...more) }).http?.authentication).toEqual({
      users: undefined,
      issuer: { publicKey: pem(rsa.publicKey), algorithm: "RS512", audience: "me" },
      openMethods: [],
    });
  });

  it("leaves the users without effect, with a warning", () => {
    const users = write("users.toml", user(`password = "${HASH}"`));
    const { http, warnings } = settings({
      args: withKey(KEY, `--rpc-http-authentication-credentials-file=${users}`),
    });
    expect(http?.authentication?.users).toBeUndefined();
    expect(warnings).toEqual([
      "--rpc-http-authentication-credentials-file has no effect: tokens come from the owner of --rpc-http-authentication-jwt-public-key-file, and nobody can log in.",
    ]);
  });

  const curve = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const secret = rsa.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  it.each([
    ["is absent", undefined, "RS256", /does not exist/],
    ["is no PEM", "nonsense", "RS256", /its format is invalid/],
    ["is a private key", secret, "RS256", /it holds a private key/],
    [
      "is too small",
      pem(small.publicKey),
      "RS256",
      /an RSA key of 2048 to 8192 bits is expected, it has 1024/,
    ],
    [
      "takes every text for a signature",
      pem(
        createPublicKey({
          key: { kty: "RSA", n: rsa.publicKey.export({ format: "jwk" }).n ?? "", e: "AQ" },
          format: "jwk",
        }),
      ),
      "RS256",
      /an odd public exponent from 3 to 64 bits is expected/,
    ],
    ["is of another kind", pem(curve.publicKey), "RS256", /RS256 needs an RSA key/],
    ["is on another curve", pem(curve.publicKey), "ES384", /ES384 needs a key on the curve secp384r1/],
    [
      "would be the secret",
      pem(rsa.publicKey),
      "HS256",
      /everybody who knows the public key could make tokens/,
    ],
  ])("stops the start when the key %s", (_what, text, algorithm, reason) => {
    const file = text === undefined ? "absent.pem" : write("bad.pem", text);
    const args = withKey(file, `--rpc-http-authentication-jwt-algorithm=${algorithm}`);
    expect(problems({ args })).toEqual([expect.stringMatching(reason)]);
  });
});

it("everybody may call a server whose authentication is off, and files named for it are warned of", () => {
  const args = [DEV_GENESIS, "--rpc-http-enabled", "--rpc-http-authentication-credentials-file=absent"];
  const { http, warnings } = settings({ args });
  expect(http?.authentication).toBeUndefined();
  expect(warnings).toEqual([
    "rpc-http-authentication-credentials-file has been ignored because --rpc-http-authentication-enabled was not defined on the command line.",
  ]);
});
