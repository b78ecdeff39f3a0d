import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
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
  const signer = authority && ["-CA", authority.certificateFile, "-CAkey", authority.keyFile];
  openssl(
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...[
      "-keyout",
      keyFile,
      "-out",
      certificateFile,
      "-utf8",
      "-subj",
      `/CN=${commonName.replaceAll("+", "\\+")}`,
    ],
    ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    ...(signer ?? []),
  );
  return filesOf(keyFile, certificateFile);
}

/** A certificate of a site with this name that `authority` signed. */
export function aSiteCertificate(name: string, authority: TlsFiles): TlsFiles {
  const folder = mkdtempSync(join(tmpdir(), "ibex-tls-"));
  const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  openssl(
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-keyout", keyFile, "-out", certificateFile, "-subj", `/CN=${name}`],
    ...["-addext", `subjectAltName=DNS:${name}`, "-addext", "basicConstraints=critical,CA:FALSE"],
    ...["-CA", authority.certificateFile, "-CAkey", authority.keyFile],
  );
  return filesOf(keyFile, certificateFile);
}

export interface Validity {
  readonly from?: Date;
  readonly until?: Date;
  /** Of the extended key usage. */
  readonly usage?: "clientAuth" | "serverAuth";
}

/** A certificate that `authority` signed, valid at these times and for this use; a client's of today if not given. */
export function aSignedCertificate(
  commonName: string,
  authority: TlsFiles,
  { from = new Date(), until = new Date(Date.now() + 86_400_000), usage = "clientAuth" }: Validity = {},
): TlsFiles {
  const folder = mkdtempSync(join(tmpdir(), "ibex-tls-"));
  const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const [request, settings, database] = ["request.pem", "ca.cnf", "database"].map((name) =>
    join(folder, name),
  );
  writeFileSync(database ?? "", "");
  writeFileSync(
    settings ?? "",
    `[ca]\ndefault_ca=d\n[d]\ndatabase=${database}\nnew_certs_dir=${folder}\nrand_serial=yes\ndefault_md=sha256\npolicy=p\nx509_extensions=e\n[p]\ncommonName=supplied\n[e]\nextendedKeyUsage=${usage}\n`,
  );
  const time = (date: Date): string => `${date.toISOString().replaceAll(/\D/g, "").slice(0, 14)}Z`;
  openssl(
    ...["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
    ...["-keyout", keyFile, "-out", request ?? "", "-subj", `/CN=${commonName}`],
  );
  openssl(
    ...["ca", "-batch", "-notext", "-config", settings ?? "", "-in", request ?? "", "-out", certificateFile],
    ...["-cert", authority.certificateFile, "-keyfile", authority.keyFile],
    ...["-startdate", time(from), "-enddate", time(until)],
  );
  return filesOf(keyFile, certificateFile);
}

function filesOf(keyFile: string, certificateFile: string): TlsFiles {
  const certificate = readFileSync(certificateFile, "utf8");
  return {
    keyFile,
    certificateFile,
    key: readFileSync(keyFile, "utf8"),
    certificate,
    fingerprint: new X509Certificate(certificate).fingerprint256,
  };
}

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", [...args], { stdio: ["ignore", "ignore", "pipe"] });
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
