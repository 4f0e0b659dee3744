// The Backups pane: backups, point-in-time recovery, and jobs (exports, imports, bulk puts).
import {
  badge,
  button,
  counted,
  element,
  empty,
  fill,
  grid,
  intro,
  labelled,
  moment,
  panel,
  part,
  select,
  sized,
  tell,
} from "./elements.js";
import { confirmed, form_dialog } from "./dialogs.js";
import { draw_jobs, export_table } from "./jobs.js";
import { dynamodb, now } from "./server.js";
import { all_names, link_to } from "./names.js";
import { visit } from "./views.js";

const backups_per_page = 100,
  tables_max = 100;

/** @param {HTMLElement} place @param {string[]} _path @param {AbortSignal} signal */
export async function show(place, _path, signal) {
  const backups = panel("backups", "half"),
    points = panel("points", "half"),
    jobs = panel("jobs", "whole");
  const names = await all_names(signal);
  place.append(
    intro(
      "Backups and jobs",
      "Back up tables, restore them to any second, and export and import them in the background.",
    ),
    element("div", { class: "grid" }, backups, points, jobs),
  );
  await Promise.all([
    part(backups, signal, () => draw_backups(backups, names, signal)),
    part(points, signal, () => draw_points(points, names, signal)),
    part(jobs, signal, () => draw_jobs(jobs, names, signal)),
  ]);
}

// --- backups

/** @param {HTMLElement} place @param {string[]} names @param {AbortSignal} signal */
async function draw_backups(place, names, signal) {
  const list = element("div", { class: "stack" });
  const look = async (/** @type {string | undefined} */ after) => {
    const page = await dynamodb(
      "ListBackups",
      { BackupType: "ALL", Limit: backups_per_page, ExclusiveStartBackupArn: after },
      signal,
    );
    const rows = page.BackupSummaries.map((/** @type {any} */ one) => backup_row(one, () => look(after)));
    fill(
      list,
      rows.length
        ? grid("Backups", ["Backup", "Table", "Created", ["Size", "right"], ""], rows)
        : empty("No backups yet. A backup takes space only for later changes, and it outlives its table."),
      (after || page.LastEvaluatedBackupArn) &&
        element(
          "div",
          { class: "row" },
          after ? button("← First page", () => look(undefined), { class: "small" }) : null,
          page.LastEvaluatedBackupArn
            ? button("Next page →", () => look(page.LastEvaluatedBackupArn), { class: "small" })
            : null,
        ),
    );
  };
  const table = select(names),
    name = element("input", { value: "nightly", spellcheck: "false" });
  const make = async () => {
    await dynamodb("CreateBackup", { TableName: table.value, BackupName: name.value.trim() });
    tell(`Created backup ${name.value.trim()} of ${table.value}.`);
    await look(undefined);
  };
  fill(
    place,
    element("h2", { id: "backups" }, "Backups"),
    names.length
      ? element(
          "div",
          { class: "row" },
          labelled("Table", table, "grow"),
          labelled("Backup name", name, "grow"),
          button("Back up", make, { class: "primary" }),
        )
      : null,
    list,
  );
  await look(undefined);
}

/** @param {any} one @param {() => Promise<unknown>} again */
function backup_row(one, again) {
  const made = moment(one.BackupCreationDateTime * 1000);
  const restore = () => {
    const target = element("input", { value: one.TableName + "-restored", spellcheck: "false", autofocus: true });
    form_dialog(
      "Restore " + one.BackupName,
      [
        element("p", { class: "dim" }, `Creates a new table with the contents of ${one.TableName} as of ${made}.`),
        labelled("New table", target),
      ],
      "Restore",
      () => dynamodb("RestoreTableFromBackup", { TargetTableName: target.value.trim(), BackupArn: one.BackupArn }),
      () => visit(link_to(target.value.trim())),
    );
  };
  const remove = async () => {
    if (!(await confirmed(`This deletes the backup ${one.BackupName} of ${one.TableName}.`, "Delete the backup")))
      return;
    await dynamodb("DeleteBackup", { BackupArn: one.BackupArn });
    await again();
  };
  return [
    element("b", {}, one.BackupName),
    one.TableName,
    [
      element("span", { class: "nowrap" }, made, " "),
      one.BackupType === "SYSTEM" ? badge("system") : null,
      one.BackupStatus === "AVAILABLE" ? null : badge(one.BackupStatus, "time"),
    ],
    sized(one.BackupSizeBytes ?? 0),
    element(
      "span",
      { class: "row" },
      button("Restore", restore, { class: "small", "aria-label": "Restore the backup " + one.BackupName }),
      one.BackupType === "SYSTEM"
        ? null
        : button("Delete", remove, { class: "small danger", "aria-label": "Delete the backup " + one.BackupName }),
    ),
  ];
}

// --- points in time

/** @param {HTMLElement} place @param {string[]} names @param {AbortSignal} signal */
async function draw_points(place, names, signal) {
  const again = () => draw_points(place, names, signal);
  const described = await Promise.all(
    names.slice(0, tables_max).map(async (name) => {
      const answer = await dynamodb("DescribeContinuousBackups", { TableName: name }, signal).catch(() => null);
      return { name, of: answer?.ContinuousBackupsDescription.PointInTimeRecoveryDescription };
    }),
  );
  const rows = described
    .filter(({ of }) => of)
    .map(({ name, of }) => {
      const on = of.PointInTimeRecoveryStatus === "ENABLED";
      const turn = async () => {
        await dynamodb("UpdateContinuousBackups", {
          TableName: name,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: !on },
        });
        await again();
      };
      return [
        element("a", { href: link_to(name) }, name),
        on
          ? element(
              "span",
              { class: "small" },
              element("div", { class: "nowrap" }, "from " + moment(of.EarliestRestorableDateTime * 1000)),
              element("div", { class: "nowrap" }, "to " + moment(of.LatestRestorableDateTime * 1000)),
            )
          : element("span", { class: "dim" }, "off"),
        element(
          "span",
          { class: "row" },
          on
            ? [
                button("Restore", () => restore_point(name, of), {
                  class: "small",
                  "aria-label": "Restore " + name + " to a time",
                }),
                button("Export", () => export_table(name, again), {
                  class: "small",
                  "aria-label": "Export " + name,
                }),
              ]
            : null,
          button(on ? "Turn off" : "Turn on", turn, {
            class: "small",
            "aria-label": `${on ? "Turn off" : "Turn on"} recovery of ${name}`,
          }),
        ),
      ];
    });
  fill(
    place,
    element("h2", { id: "points" }, "Points in time"),
    rows.length
      ? grid("Points in time", ["Table", "Recovery window", ""], rows)
      : empty("No tables yet. Point-in-time recovery restores a table to any second of the last 35 days."),
    names.length > tables_max
      ? element("p", { class: "dim small" }, `The first ${tables_max} of ${counted(names.length)} tables.`)
      : null,
  );
}

/** @param {string} name @param {any} of its PointInTimeRecoveryDescription */
function restore_point(name, of) {
  const target = element("input", { value: name + "-restored", spellcheck: "false" });
  const latest = element("input", { type: "checkbox" });
  const begins = Math.min(now(), of.LatestRestorableDateTime * 1000);
  const at = element("input", {
    type: "datetime-local",
    step: 1,
    value: new Date(begins).toISOString().slice(0, 19),
  });
  form_dialog(
    `Restore ${name} to a time`,
    [
      element(
        "p",
        { class: "dim" },
        `Creates a new table with the contents of ${name} at a second between ${moment(of.EarliestRestorableDateTime * 1000)} and ${moment(of.LatestRestorableDateTime * 1000)}.`,
      ),
      labelled("Time (UTC)", at),
      labelled("Use the latest possible time", latest),
      labelled("New table", target),
    ],
    "Restore",
    () =>
      dynamodb("RestoreTableToPointInTime", {
        SourceTableName: name,
        TargetTableName: target.value.trim(),
        ...(latest.checked
          ? { UseLatestRestorableTime: true }
          : { RestoreDateTime: Date.parse(at.value + "Z") / 1000 }),
      }),
    () => visit(link_to(target.value.trim())),
  );
}
