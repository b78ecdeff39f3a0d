import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A private key and its certificate, made by the program openssl. */
export interface TlsFiles {
  readonly keyFile: string;
  readonly certificateFile: string;
  readonly key: string;
  readonly certificate: string;
  /** As Node.js writes it. */
  readonly fingerprint: string;
}

/** A self-signed certificate for this machine, or one that `authority` signed. */
export function aCertificateFor(commonName: string, authority?: TlsFiles): TlsFiles {
  const folder = mkdtempSync(join(tmpdir(), "ibex-tls-"));
  const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const openssl = (...args: readonly string[]): void =>
    void execFileSync("openssl", [...args], { stdio: ["ignore", "ignore", "pipe"] });
  const signer = authority && ["-CA", authority.certificateFile, "-CAkey", authority.keyFile];
  openssl(
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-keyout", keyFile, "-out", certificateFile, "-subj", `/CN=${commonName}`],
    ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    ...(signer ?? []),
  );
  const certificate = readFileSync(certificateFile, "utf8");
  return {
    keyFile,
    certificateFile,
    key: readFileSync(keyFile, "utf8"),
    certificate,
    fingerprint: new X509Certificate(certificate).fingerprint256,
  };
}

/** The same in one file (PKCS#12), under a password. */
export function aKeystore({ keyFile, certificateFile }: TlsFiles, password: string): string {
  const keystore = `${keyFile}.p12`;
  execFileSync("openssl", [
    ...["pkcs12", "-export", "-in", certificateFile, "-inkey", keyFile],
    ...["-out", keystore, "-passout", `pass:${password}`],
  ]);
  return keystore;
}
