// `npm test`: set-up, both test suites, one closing line over both.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, setUp, VENV_PYTHON } from "./setup.mjs";

setUp({ dev: true });
const reports = mkdtempSync(join(tmpdir(), "palate-test-"));
/** A runner that died before it could say anything has failed. */
const NO_REPORT = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 };
const totals = { passed: 0, failed: 0, skipped: 0 };
vitest();
pytest();
rmSync(reports, { recursive: true });
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);

function vitest() {
  const file = join(reports, "vitest.json");
  const entry = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const args = [entry, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
  const report = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : NO_REPORT;
  totals.passed += report.numPassedTests;
  totals.skipped += report.numPendingTests + report.numTodoTests;
  totals.failed += atLeastOneIfBroken(report.numFailedTests, status);
}

function pytest() {
  const file = join(reports, "pytest.xml");
  const args = ["-m", "pytest", "-q", "-rs", `--junitxml=${file}`];
  const { status } = spawnSync(VENV_PYTHON, args, { cwd: join(ROOT, "python-bridge"), stdio: "inherit" });
  const head = existsSync(file) ? (readFileSync(file, "utf8").match(/<testsuite [^>]*>/)?.[0] ?? "") : "";
  const failed = number(head, "failures") + number(head, "errors");
  const skipped = number(head, "skipped");
  totals.passed += number(head, "tests") - failed - skipped;
  totals.skipped += skipped;
  totals.failed += atLeastOneIfBroken(failed, status);
}

/** A runner that ends badly without naming a test (a file that does not load) has failed all the same. */
function atLeastOneIfBroken(failed, status) {
  return status === 0 ? failed : Math.max(failed, 1);
}

function number(head, name) {
  return Number(head.match(new RegExp(`\\b${name}="(\\d+)"`))?.[1] ?? 0);
}
