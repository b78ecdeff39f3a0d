import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { CallerAccess } from "../../../src/callers/access/callerAccess.ts";
import { watchCertificates } from "../../../src/callers/access/certificateWatch.ts";
import type { TlsIdentity, TlsRules } from "../../../src/rpc/server/tls/tlsRules.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { loggedLines } from "../../builders/loggedLines.ts";
import { aCertificateFor, aKeystore, aSignedCertificate, type TlsFiles } from "../../builders/tlsFiles.ts";
import { DEV_GENESIS, settingsIn } from "../../config/settingsIn.ts";
import { aRegistry, readSample } from "../../observability/aRegistry.ts";

const DAY_MS = 86_400_000;
const END_MS = Date.UTC(2030, 0, 1);
const METRIC = "rpc_tls_certificate_expiry_timestamp_seconds";

const authority = aCertificateFor("authority");

function aCertificateUntil(untilMs: number, fromMs = untilMs - 90 * DAY_MS): TlsFiles {
  return aSignedCertificate("node", authority, {
    from: new Date(fromMs),
    until: new Date(untilMs),
    usage: "serverAuth",
  });
}

const pem = ({ key, certificate }: TlsFiles): TlsIdentity => ({
  kind: "pem",
  key,
  certificates: certificate,
});

/** A watch over the HTTP server of a node with such an identity, which begins so many days before END_MS. */
function aWatch(
  identity: TlsIdentity,
  { daysBefore = 90, clients }: { daysBefore?: number; clients?: TlsRules["clients"] } = {},
) {
  const { settings } = settingsIn("ibex-certificates-");
  const { http, ...others } = settings({ args: [DEV_GENESIS, "--rpc-http-enabled"] });
  const rules = (identity: TlsIdentity): TlsRules => ({
    identity,
    minVersion: "TLSv1.2",
    maxVersion: "TLSv1.3",
    ciphers: undefined,
    clients,
  });
  const withTls = (identity: TlsIdentity) => ({ ...others, http: http && { ...http, tls: rules(identity) } });
  const access = new CallerAccess(withTls(identity));
  const clock = createHandClock(END_MS - daysBefore * DAY_MS);
  const { logger, lines } = loggedLines();
  const metrics = aRegistry();
  onTestFinished(watchCertificates({ access, clock, logger, metrics }));
  const said = () => lines.map(({ message }) => message);
  return {
    clock,
    lines,
    said,
    install: (next: TlsIdentity) => {
      access.now = withTls(next);
    },
    expiry: (role = "server") => readSample(metrics, METRIC, { server: "rpc-http", role }),
  };
}

describe("the watch over certificates", () => {
  it("warns 30 days and 7 days before one expires, and when it has, once each", () => {
    const { clock, said, lines } = aWatch(pem(aCertificateUntil(END_MS)));
    clock.advanceTo(END_MS - 31 * DAY_MS);
    expect(said()).toEqual([]);
    clock.advanceTo(END_MS - 8 * DAY_MS);
    expect(lines).toMatchObject([
      {
        level: "WARN",
        server: "rpc-http",
        subject: "CN=node",
        expires: "2030-01-01T00:00:00.000Z",
        message: "the certificate of this server expires in 30 days: install the next one, then SIGHUP",
      },
    ]);
    clock.advanceTo(END_MS + 10 * DAY_MS);
    expect(said().slice(1)).toEqual([
      "the certificate of this server expires in 7 days: install the next one, then SIGHUP",
      "the certificate of this server has expired: clients refuse it",
    ]);
  });

  it("warns at a start of what is so already, also of one that is not valid yet", () => {
    const soon = aWatch(pem(aCertificateUntil(END_MS)), { daysBefore: 0.5 });
    expect(soon.said()).toEqual([
      "the certificate of this server expires within a day: install the next one, then SIGHUP",
    ]);
    const early = aWatch(pem(aCertificateUntil(END_MS, END_MS - DAY_MS)), { daysBefore: 2 });
    expect(early.said()).toEqual(["the certificate of this server is not valid yet: clients refuse it"]);
  });

  it("follows a certificate that is replaced, in the metric too, and knows that of a PKCS#12 file", async () => {
    const { install, expiry, said } = aWatch(pem(aCertificateUntil(END_MS)), { daysBefore: 60 });
    expect(await expiry()).toBe(END_MS / 1000);
    const next = aCertificateUntil(END_MS - 50 * DAY_MS);
    const bytes = readFileSync(aKeystore(next, "secret"));
    install({ kind: "pkcs12", bytes, password: "secret" });
    expect(await expiry()).toBe(END_MS / 1000 - 50 * 86_400);
    expect(said()).toEqual([
      "the certificate of this server expires in 10 days: install the next one, then SIGHUP",
    ]);
  });

  it("watches the authorities of clients, of which the first to expire counts", async () => {
    const [first, second] = [aCertificateUntil(END_MS), aCertificateUntil(END_MS + 60 * DAY_MS)];
    const clients = { known: [], authorities: `${second.certificate}${first.certificate}` };
    const { expiry, said } = aWatch(pem(second), { daysBefore: 20, clients });
    expect(await expiry("authority")).toBe(END_MS / 1000);
    expect(said()).toEqual([
      "the certificate of an authority of clients expires in 20 days: install the next one, then SIGHUP",
    ]);
  });
});
