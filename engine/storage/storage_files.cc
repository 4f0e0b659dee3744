#include "engine/storage/storage_files.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <system_error>
#include <utility>

#include "os/file.h"

namespace mayfly::engine {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using Fails = std::function<bool(std::string_view path)>;

// Marks an IO error as retryable. RocksDB decides by this flag whether a failed operation may succeed later.
// Without the flag, a file that cannot be created for lack of a descriptor is a fatal error, after which
// RocksDB writes nothing until the process exits. The subcode, such as that of a full disk, is dropped.
IOStatus passing(IOStatus status) {
  if (!status.IsIOError()) return status;
  IOStatus again = IOStatus::IOError(status.getState() ? status.getState() : "");
  again.SetRetryable(true);
  return again;
}

// Creates the file with mode 0600 before RocksDB opens it. RocksDB creates files with 0644, but an existing
// file keeps its mode, so the file never has a wider mode. Refuses a symbolic link: RocksDB would follow it
// and truncate its target.
IOStatus make_private(const std::string& path, os::Make make) {
  std::error_code error, ignored;
  const os::File file = os::File::open(path, {.access = os::Access::write, .make = make}, error);
  if (error == std::errc::file_exists && os::facts_of(path, false, ignored).kind == os::Kind::file)
    return IOStatus::OK();
  if (error) return IOStatus::IOError("While making " + path, error.message());
  file.restrict_to_owner(ignored);  // for an unusual umask or an existing file
  return IOStatus::OK();
}

class WrittenFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WrittenFile(std::unique_ptr<rocksdb::FSWritableFile>&& file, std::string path, const Fails& fails)
      : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), fails_(fails) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* context) override {
    return fails() ? failure() : passing(target()->Append(data, options, context));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification, IODebugContext* context) override {
    return fails() ? failure() : passing(target()->Append(data, options, verification, context));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* context) override {
    return passing(target()->Flush(options, context));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* context) override {
    return fails() ? failure() : passing(target()->Sync(options, context));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return fails() ? failure() : passing(target()->Fsync(options, context));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* context) override {
    return passing(target()->Close(options, context));
  }

 private:
  [[nodiscard]] bool fails() const { return fails_ && fails_(path_); }
  [[nodiscard]] IOStatus failure() const {
    return passing(IOStatus::IOError("While writing to " + path_, "a test made it fail"));
  }
  const std::string path_;
  const Fails& fails_;
};

class PrivateFiles final : public rocksdb::FileSystemWrapper {
 public:
  PrivateFiles(std::shared_ptr<rocksdb::FileSystem> base, Fails fails, const std::atomic<bool>& refuses,
               std::function<bool()> gives_up)
      : FileSystemWrapper(std::move(base)),
        fails_(std::move(fails)),
        refuses_(refuses),
        gives_up_(std::move(gives_up)) {}

  const char* Name() const override { return "PrivateFiles"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* context) override {
    if (gives_up_()) return rocksdb::status_to_io_status(rocksdb::Status::ShutdownInProgress());
    if (refuses_ || (fails_ && fails_(path)))
      return passing(IOStatus::IOError("While making " + path, "a test made it fail"));
    IOStatus status = make_private(path, os::Make::if_missing);
    if (status.ok()) status = target()->NewWritableFile(path, options, file, context);
    if (status.ok()) *file = std::make_unique<WrittenFile>(std::move(*file), path, fails_);
    return passing(std::move(status));
  }
  IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* context) override {
    return passing(target()->ReopenWritableFile(path, options, file, context));
  }
  IOStatus NewRandomRWFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* file, IODebugContext* context) override {
    return passing(target()->NewRandomRWFile(path, options, file, context));
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* directory, IODebugContext* context) override {
    return passing(target()->NewDirectory(path, options, directory, context));
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* context) override {
    return passing(target()->LinkFile(from, to, options, context));
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* context) override {
    return passing(target()->RenameFile(from, to, options, context));
  }
  IOStatus LockFile(const std::string& path, const IOOptions& options, rocksdb::FileLock** lock,
                    IODebugContext* context) override {
    // An existing file must not be opened, because closing it would release the lock that this process holds
    // on it.
    if (IOStatus status = make_private(path, os::Make::must_be_new); !status.ok()) return status;
    return target()->LockFile(path, options, lock, context);
  }

 private:
  const Fails fails_;
  const std::atomic<bool>& refuses_;
  const std::function<bool()> gives_up_;
};

class WithoutOptionsFiles final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "WithoutOptionsFiles"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* context) override {
    const auto name = std::string_view(path).substr(path.rfind('/') + 1);
    if (name.starts_with("OPTIONS-")) return IOStatus::NotSupported("OPTIONS files are not written");
    return target()->NewWritableFile(path, options, file, context);
  }
};

class CountedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  CountedFile(std::unique_ptr<rocksdb::FSWritableFile>&& file, std::atomic<std::int64_t>& bytes)
      : FSWritableFileOwnerWrapper(std::move(file)), bytes_(bytes) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* context) override {
    return counted(target()->Append(data, options, context), data);
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification, IODebugContext* context) override {
    return counted(target()->Append(data, options, verification, context), data);
  }

 private:
  IOStatus counted(IOStatus status, const rocksdb::Slice& data) {
    if (status.ok()) bytes_ += static_cast<std::int64_t>(data.size());
    return status;
  }
  std::atomic<std::int64_t>& bytes_;
};

class CountedFiles final : public rocksdb::FileSystemWrapper {
 public:
  CountedFiles(std::shared_ptr<rocksdb::FileSystem> base, std::atomic<std::int64_t>& bytes)
      : FileSystemWrapper(std::move(base)), bytes_(bytes) {}
  const char* Name() const override { return "CountedFiles"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* context) override {
    const std::int64_t replaced = size(path, context);
    IOStatus status = target()->NewWritableFile(path, options, file, context);
    if (!status.ok()) return status;
    bytes_ -= replaced;
    *file = std::make_unique<CountedFile>(std::move(*file), bytes_);
    return status;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* context) override {
    const std::int64_t deleted = size(path, context);
    IOStatus status = target()->DeleteFile(path, options, context);
    if (status.ok()) bytes_ -= deleted;
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* context) override {
    const std::int64_t replaced = size(to, context);
    IOStatus status = target()->RenameFile(from, to, options, context);
    if (status.ok()) bytes_ -= replaced;
    return status;
  }

 private:
  std::int64_t size(const std::string& path, IODebugContext* context) {
    std::uint64_t bytes = 0;
    return target()->GetFileSize(path, {}, &bytes, context).ok() ? static_cast<std::int64_t>(bytes) : 0;
  }
  std::atomic<std::int64_t>& bytes_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> counted_files(std::shared_ptr<rocksdb::FileSystem> base,
                                                   std::atomic<std::int64_t>& bytes) {
  return std::make_shared<CountedFiles>(std::move(base), bytes);
}

std::shared_ptr<rocksdb::FileSystem> private_files(std::shared_ptr<rocksdb::FileSystem> base, Fails fails,
                                                   const std::atomic<bool>& refuses,
                                                   std::function<bool()> gives_up) {
  return std::make_shared<PrivateFiles>(std::move(base), std::move(fails), refuses, std::move(gives_up));
}

std::shared_ptr<rocksdb::FileSystem> without_options_files(std::shared_ptr<rocksdb::FileSystem> base) {
  return std::make_shared<WithoutOptionsFiles>(std::move(base));
}

}  // namespace mayfly::engine
